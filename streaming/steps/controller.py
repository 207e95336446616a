"""controller, step by step: /controller says who reigns, /controller_epoch for which time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

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
from streaming.steps.row import Row, close_row, open_row, tame
from zklake.events.envelope import Event, Stat
from zklake.events.payloads.controller import Controller

KINDS = ("controller", "controller_epoch")

# When the watcher, at this place in the log, had last seen everything.
GapFrom = Callable[[str, int], int | None]


def fold_controller(
    rows: Sequence[Row],
    events: Iterable[Event],
    session_closes: Collection[tuple[str, int]],
    closures: Mapping[tuple[str, int], Closure],
    gap_from: GapFrom,
) -> list[Row]:
    """The open rows and these events -> the rows that stand open then, and those just ended.

    `session_closes`: (cluster, seq) of the deletes that ended a session. `closures`: by (cluster,
    seq) of the in_sync that ends the frame.
    """
    lines: dict[str, Line] = {}
    for row in rows:
        memory = msgspec.json.decode(row["fold_state"], type=Memory)
        lines[row["cluster"]] = Line(row["cluster"], [dict(row)], memory)
    for event in events:
        line = lines.setdefault(event.cluster, Line(event.cluster))
        place = (event.cluster, event.seq)
        if place in closures:
            _resync(line, closures[place], gap_from)
        elif event.kind == "controller_epoch":
            take_epoch(line, event)
        elif event.kind == "controller" and event.op == "delete":
            word = "session_closed" if place in session_closes else "deleted"
            _end(line, event, word, gap_from(*place) if event.origin == "resync" else None)
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
    zxid, at_ms = _moment(event, stat)
    state = read_state(event)
    return open_row(
        event.cluster,
        event.seq,
        zxid,
        at_ms,
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


def _moment(event: Event, stat: Stat) -> tuple[int | None, int]:
    """The zxid and the time at which a state began."""
    is_create = event.op == "create"
    zxid = stat.czxid if is_create else stat.mzxid
    at_ms = stat.ctime if is_create else stat.mtime
    return (
        event.zxid if zxid is None else zxid,
        event.observed_at_ms if at_ms is None else at_ms,
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
    close_row(former, event.seq, row["valid_from_zxid"], row["valid_from_at"], ended_by=ended_by)


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


def _end(line: Line, event: Event, word: str, gap_ms: int | None) -> None:
    if line.memory.stands:
        row = line.rows[-1]
        close_row(row, event.seq, event.zxid, event.observed_at_ms, ended_by=word, at_min_ms=gap_ms)
        open_without(line, event.seq, event.zxid, event.observed_at_ms, is_known=True)


def _resync(line: Line, closure: Closure, gap_from: GapFrom) -> None:
    if line.memory.epoch_seen_seq < closure.begin_seq:
        line.memory.epoch = line.memory.epoch_zxid = None
    if line.memory.stands and line.rows[-1]["seen_seq"] < closure.begin_seq:
        seq, at_ms = closure.end_seq, closure.observed_at_ms
        gap_ms = gap_from(line.cluster, seq)
        close_row(line.rows[-1], seq, None, at_ms, ended_by="resync", at_min_ms=gap_ms)
        open_without(line, seq, None, at_ms, is_known=True)
