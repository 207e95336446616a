"""controller, step by step: /controller says who reigns, /controller_epoch for which time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from streaming.decoding import read_payload
from streaming.frames import Closure
from streaming.sights import State, is_echo, is_touch, read_state
from streaming.steps.reigns import (
    SEEN,
    Line,
    Memory,
    carry_epoch,
    open_without,
    take_epoch,
)
from streaming.steps.row import Moment, Row, end_row, find_moment, open_row, tame
from streaming.steps.surroundings import Surroundings
from zklake.events.envelope import Event, Stat
from zklake.events.payloads.controller import Controller

KINDS = ("controller", "controller_epoch")


def fold_controller(
    rows: Sequence[Row], events: Iterable[Event], around: Surroundings
) -> list[Row]:
    """The open rows and these events -> the rows that stand open then, and those just ended."""
    lines: dict[str, Line] = {}
    for row in rows:
        memory = msgspec.json.decode(row["fold_state"], type=Memory)
        lines[row["cluster"]] = Line(row["cluster"], [dict(row)], memory)
    for event in events:
        line = lines.setdefault(event.cluster, Line(event.cluster))
        place = (event.cluster, event.seq)
        if place in around.closures:
            _resync(line, around.closures[place], around)
        elif event.kind == "controller_epoch":
            take_epoch(line, event)
        elif event.kind == "controller" and event.op == "delete":
            word = "session_closed" if place in around.session_closes else "deleted"
            _end(line, around.find_end(event), word)
        elif event.kind == "controller" and event.op in SEEN:
            _see(line, event)
    for line in lines.values():
        state = msgspec.json.encode(line.memory).decode()
        for row in line.rows:
            row["fold_state"] = state if row["is_open"] else None
    return [row for line in lines.values() for row in line.rows]


def _see(line: Line, event: Event) -> None:
    """A state of /controller: a new one, or one that stands already."""
    former = line.rows[-1] if line.rows and line.memory.stands else None
    if is_touch(event) or (former is not None and is_echo(event, _standing(former))):
        if line.rows:
            line.rows[-1]["seen_seq"] = event.seq
        return
    row = _read_row(event, event.stat or Stat())
    _succeed(line, row, event)
    line.memory.stands = True
    carry_epoch(line, row)


def _standing(row: Row) -> State:
    return State(row["czxid"], row["znode_version"], row["fidelity"])


def _read_row(event: Event, stat: Stat) -> Row:
    payload, error = read_payload(event)
    known = payload if isinstance(payload, Controller) else None
    moment, state = find_moment(event), read_state(event)
    return open_row(
        event.cluster,
        moment.seq,
        moment.zxid,
        moment.at_ms,
        controller_id=known.controller_id if known else None,
        controller_epoch=None,
        kraft_controller_epoch=known.kraft_controller_epoch if known else None,
        registered_at=tame(known.timestamp_ms) if known else None,
        session=stat.ephemeral_owner or None,
        czxid=state.czxid,
        znode_version=state.version,
        fidelity=state.fidelity,
        is_known=known is not None,
        decode_error=error,
        unseen_versions=0,
    )


def _succeed(line: Line, row: Row, event: Event) -> None:
    """End the open row where the next one begins."""
    former = line.rows[-1] if line.rows else None
    line.rows.append(row)
    if former is None:
        return
    is_unknown = not line.memory.stands and not former["is_known"]
    is_first_half = line.memory.stands and _is_blank(former) and _is_birth(former, row, event)
    if is_unknown or is_first_half:
        # Nothing was known yet; or create(null) + set in one transaction: one life, not two states.
        line.rows.remove(former)
        return
    ended_by = "changed"
    if line.memory.stands:
        is_other = None not in (former["czxid"], row["czxid"]) and former["czxid"] != row["czxid"]
        if event.op == "create" or is_other:
            ended_by = "recreated"
        elif row["decode_error"] is not None:
            ended_by = "unreadable"
    end_row(former, Moment(event.seq, row["valid_from_zxid"], row["valid_from_at"]), ended_by)


def _is_blank(row: Row) -> bool:
    return not row["is_known"] and row["decode_error"] is None


def _is_birth(former: Row, row: Row, event: Event) -> bool:
    if event.op != "set":
        return False
    stat = event.stat or Stat()
    if None not in (former["czxid"], stat.czxid) and former["czxid"] != stat.czxid:
        return False
    is_first = stat.mzxid is not None and stat.mzxid == stat.czxid
    zxid = row["valid_from_zxid"]
    return is_first or (zxid is not None and zxid == former["valid_from_zxid"])


def _end(line: Line, moment: Moment, word: str) -> None:
    if line.memory.stands:
        end_row(line.rows[-1], moment, word)
        open_without(line, moment, is_known=True)


def _resync(line: Line, closure: Closure, around: Surroundings) -> None:
    if line.memory.epoch_seen_seq < closure.begin_seq:
        line.memory.epoch = line.memory.epoch_zxid = None
    if line.memory.stands and line.rows[-1]["seen_seq"] < closure.begin_seq:
        _end(line, around.find_resync(closure), "resync")
