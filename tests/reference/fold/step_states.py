"""Rows of the tables whose znodes hold many things at once: how they begin, go on and end."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.reference.fold.payloads import timestamp
from tests.reference.fold.states import OPEN, end, stat_of, version_of
from tests.reference.fold.values import bytes_of, word_for
from zklake.events.envelope import Event
from zklake.events.kinds import KIND_BY_NAME
from zklake.events.payloads.reading import Unreadable

Row = dict[str, Any]


class Cause(NamedTuple):
    """An event that begins or ends rows; what it only infers happened not before `at_min`."""

    event: Event
    at_min: int | None = None

    @property
    def zxid(self) -> int | None:
        """The transaction."""
        stat, op = stat_of(self.event), self.event.op
        if op == "in_sync":
            return None
        zxid = None if op == "delete" else stat.czxid if op == "create" else stat.mzxid
        return self.event.zxid if zxid is None else zxid

    @property
    def at(self) -> int | None:
        """When it happened, by the server's clock where that is known."""
        stat, op = stat_of(self.event), self.event.op
        at = stat.ctime if op == "create" else stat.mtime if op in ("set", "read") else None
        return timestamp(self.event.observed_at_ms if at is None else at)


class Life:
    """One life of a znode, from the event that first gave it rows until it has none."""

    def __init__(self) -> None:
        self.czxid: int | None = None
        self.seen_seq = -1


class StepRow:
    """A row, and the life of the znode that tells it: by the event that began it, or before."""

    def __init__(
        self, cause: Cause, columns: Row, life: Life | None, told_by: Event | None = None
    ) -> None:
        event, told_by = cause.event, told_by or cause.event
        self.life = life
        self.row: Row = {
            "is_known": True,
            "decode_error": None,
            **columns,
            "czxid": life.czxid if life else None,
            "znode_version": version_of(told_by),
            "fidelity": told_by.fidelity,
            "seen_seq": event.seq,
            "valid_from_seq": event.seq,
            "valid_from_zxid": cause.zxid,
            "valid_from_at": cause.at,
            **OPEN,
        }

    def see(self, event: Event) -> None:
        """It still holds."""
        self.row["seen_seq"] = event.seq

    def end(self, word: str, cause: Cause) -> None:
        """It holds no longer."""
        end(self.row, word, cause.event.seq, cause.zxid, cause.at, cause.at_min)

    def is_echoed(self, event: Event) -> bool:
        """A read that repeats it; what is unknown repeats nothing."""
        czxid, version = stat_of(event).czxid, version_of(event)
        if event.op != "read" or czxid is None or version is None:
            return False
        standing = (self.row["czxid"], self.row["znode_version"], self.row["fidelity"])
        return (czxid, version, event.fidelity) == standing


def is_new_life(life: Life | None, event: Event) -> bool:
    """Of a znode that stands: created again, or known to be another one."""
    if life is None:
        return False
    czxid = stat_of(event).czxid
    return event.op == "create" or (None not in (life.czxid, czxid) and life.czxid != czxid)


def learn(life: Life, event: Event, rows: list[StepRow]) -> None:
    """What a state event says of the life it belongs to; `rows` are all that are open."""
    life.seen_seq = event.seq
    if life.czxid is None:
        life.czxid = stat_of(event).czxid
        for row in rows:
            if row.life is life:
                row.row["czxid"] = life.czxid


class Told(NamedTuple):
    """The value that a state event tells; None: it is not known, perhaps for a reason."""

    payload: Any
    decode_error: str | None = None

    @property
    def word(self) -> str:
        """Why rows end when the value is not known any more."""
        return "changed" if self.decode_error is None else "unreadable"


def read_told(event: Event) -> Told:
    """Decode by the contract's own decoder; null data may be a value too."""
    decode = KIND_BY_NAME[event.kind or ""].decode
    if event.data is None and event.data_b64 is None and event.data_zlib_b64 is None:
        payload = decode(None)
        is_value = event.fidelity == "exact" and not isinstance(payload, Unreadable)
        return Told(payload if is_value else None)
    data = bytes_of(event)
    if isinstance(data, str):
        return Told(None, data)
    payload = decode(data)
    return Told(None, word_for(payload)) if isinstance(payload, Unreadable) else Told(payload)
