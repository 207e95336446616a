"""controller: /controller says who it is, /controller_epoch for which time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from delta_tables.observation import read_millis
from streaming.fold.context import Context
from streaming.fold.controller_rows import (
    SEEN,
    ControllerState,
    Line,
    carry_epoch,
    open_without,
    take_epoch,
)
from streaming.fold.frames import Closure
from streaming.fold.life import (
    Moment,
    State,
    find_moment,
    is_echo,
    is_second_half,
    is_touch,
    read_state,
)
from streaming.fold.payload import read_payload
from streaming.fold.row import Row, end_row, open_row
from zklake.events.envelope import Event, Stat
from zklake.events.payloads.controller import Controller

KINDS = ("controller", "controller_epoch")


class ControllerFold:
    """The rows of one cluster; the last of them is open."""

    name = "controller"

    def __init__(self, cluster: str, rows: Iterable[Row] = ()) -> None:
        """`rows`: the open one, and those that ended behind the place from which events come."""
        self._line, self._past = Line(cluster), list[Row]()
        for row in rows:
            if row["is_open"]:
                self._line.rows = [dict(row)]
                self._line.memory = msgspec.json.decode(row["fold_state"], type=ControllerState)
            else:
                self._past.append(row)

    def find_as_of(self, column: str, seq: int) -> Any:
        """A column of the row that held at a seq."""
        for row in (*self._past, *self._line.rows):
            if row["valid_from_seq"] <= seq and (row["is_open"] or seq < row["valid_to_seq"]):
                return row[column]
        return None

    def concerns(self, event: Event, context: Context) -> bool:
        """Whether an event may change a row."""
        return event.kind in KINDS or context.closure is not None

    def apply(self, event: Event, context: Context) -> None:
        """Take one event."""
        line = self._line
        if context.closure is not None:
            _resync(line, context.closure, context)
        elif event.kind == "controller_epoch":
            take_epoch(line, event)
        elif event.op == "delete":
            word = "session_ended" if context.closes_session else "deleted"
            _end(line, context.find_end(event), word)
        elif event.op in SEEN:
            _see(line, event)

    def take(self) -> tuple[list[Row], list[Row]]:
        """(the open row, with what must be remembered; those that have ended since)."""
        line = self._line
        ended = [row for row in line.rows if not row["is_open"]]
        self._past, line.rows = [], [row for row in line.rows if row["is_open"]]
        for row in line.rows:
            row["fold_state"] = msgspec.json.encode(line.memory).decode()
        for row in ended:
            row["fold_state"] = None
        return [*line.rows], ended


def _see(line: Line, event: Event) -> None:
    """A state of /controller: a new one, or one that stands already."""
    former = line.rows[-1] if line.rows and line.memory.stands else None
    if is_touch(event) or (former is not None and is_echo(event, _state_of(former))):
        if line.rows:
            line.rows[-1]["seen_seq"] = event.seq
        return
    row = _read_row(event, event.stat or Stat())
    _succeed(line, row, event)
    line.memory.stands = True
    carry_epoch(line, row)


def _state_of(row: Row) -> State:
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
        registered_at=read_millis(known.timestamp_ms) if known else None,
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
    is_first_half = line.memory.stands and _is_blank(former)
    is_first_half &= is_second_half(event, _state_of(former), former["valid_from_zxid"])
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


def _end(line: Line, moment: Moment, word: str) -> None:
    if line.memory.stands:
        end_row(line.rows[-1], moment, word)
        open_without(line, moment, is_known=True)


def _resync(line: Line, closure: Closure, context: Context) -> None:
    if line.memory.epoch_seen_seq < closure.begin_seq:
        line.memory.epoch = line.memory.epoch_zxid = None
    if line.memory.stands and line.rows[-1]["seen_seq"] < closure.begin_seq:
        _end(line, context.find_resync(closure), "resync")
