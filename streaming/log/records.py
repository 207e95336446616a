"""Records of the log, each judged by itself: an event of this log, or the reason why it is none.

Bytes are hostile: nothing here raises on them, and no record can stop the stream.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

import msgspec

from delta_tables.observation import read_millis
from zklake.events.envelope import VERSION, Event, Seq, decode
from zklake.events.payloads.reading import UNREADABLE_ERRORS, Int64, explain

# Ops of the stream's own events: no watcher writes them.
OwnOp = Literal["seq_hole", "seq_repeat"]
HOLE: Final = "seq_hole"
REPEAT: Final = "seq_repeat"


class Record(NamedTuple):
    """A record as Kafka has it."""

    offset: int
    value: bytes | None
    # Kafka's own time of it, in epoch microseconds.
    at_us: int | None = None


class LogPosition(NamedTuple):
    """Where in the log a record stands, and when that was observed."""

    seq: int
    observed_at_ms: int


class Rejected(NamedTuple):
    """Why a record cannot be folded; `place` is known of events of a newer version."""

    reason: str
    place: LogPosition | None = None


class _Head(msgspec.Struct):
    """What every version of an event has."""

    cluster: str
    log_id: str
    seq: Seq
    observed_at_ms: Int64 = 0
    v: int = 1


class _Version(msgspec.Struct):
    v: int = 1


_NEWER = "event version {} is newer than this zklake reads ({})"
_UNKNOWN_WORD = re.compile(r"Invalid enum value '([\w-]{1,40})' - at `\$\.([\w.]+)`$")


def judge_record(value: bytes | None, cluster: str, log_id: str | None) -> Event | Rejected:
    """What a record says; `log_id`: of the lake's log, None if it has none yet."""
    if not value:
        return Rejected("empty record")
    try:
        event = decode(value)
    except UNREADABLE_ERRORS as error:
        return _judge_newer(value, cluster, log_id) or Rejected(_explain(error))
    if event.v > VERSION:
        return _reject_newer(event, cluster, log_id)
    reason = _find_fault(event, cluster, log_id)
    return event if reason is None else Rejected(reason)


def _find_fault(event: Event | _Head, cluster: str, log_id: str | None) -> str | None:
    if event.cluster != cluster:
        return f"of another cluster: {event.cluster}"
    if log_id is not None and event.log_id != log_id:
        return f"of another log: {event.log_id}"
    if read_millis(event.observed_at_ms) is None:
        return f"observed_at_ms {event.observed_at_ms} is not a time"
    if isinstance(event, Event) and event.op in (HOLE, REPEAT):
        return f"{event.op} is an event of the stream's own"
    return None


def _judge_newer(value: bytes, cluster: str, log_id: str | None) -> Rejected | None:
    """Of what cannot be read as an event: whether it says that it is a newer one."""
    try:
        version = msgspec.json.decode(value, type=_Version).v
    except UNREADABLE_ERRORS:
        return None
    if version <= VERSION:
        return None
    try:
        return _reject_newer(msgspec.json.decode(value, type=_Head), cluster, log_id)
    except UNREADABLE_ERRORS:
        return Rejected(_NEWER.format(version, VERSION))


def _reject_newer(head: Event | _Head, cluster: str, log_id: str | None) -> Rejected:
    """It cannot be folded, but if it is of this log it has its place there."""
    is_ours = _find_fault(head, cluster, log_id) is None
    return Rejected(
        _NEWER.format(head.v, VERSION),
        LogPosition(head.seq, head.observed_at_ms) if is_ours else None,
    )


def _explain(error: Exception) -> str:
    if unknown := _UNKNOWN_WORD.search(str(error)):
        return f"not an event: unknown {unknown[2]} {unknown[1]!r}"
    why = explain(error)
    return f"not an event: {why.reason} {why.detail}".rstrip()
