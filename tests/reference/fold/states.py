"""One state of one znode: how a row begins, when an event only repeats it, how it ends."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.reference.fold.payloads import timestamp
from tests.reference.fold.values import Value, value_of
from zklake.events.envelope import Event, Stat

Row = dict[str, Any]

_NO_STAT = Stat()


class State:
    """A row, and what of its event is needed later but is no column."""

    def __init__(self, event: Event, row: Row, *, is_blank: bool) -> None:
        self.row = row
        # No data, and no error either: perhaps the first half of a registration.
        self.is_blank = is_blank

    @property
    def session(self) -> int | None:
        """Whose ephemeral it is."""
        session: int | None = self.row.get("session")
        return session

    @property
    def seen_seq(self) -> int:
        """The last event that showed it alive."""
        seq: int = self.row["seen_seq"]
        return seq

    def see(self, event: Event) -> None:
        """A touch or an echo."""
        self.row["seen_seq"] = event.seq


def stat_of(event: Event) -> Stat:
    """The event's stat; every field of it may be unknown."""
    return event.stat or _NO_STAT


def session_of(event: Event) -> int | None:
    """ZooKeeper's 0 is no session."""
    return stat_of(event).ephemeral_owner or None


def is_touch(event: Event) -> bool:
    """Something of which the value is not known: alive, no state."""
    is_superseded = event.op in ("set", "read") and event.fidelity == "superseded"
    return is_superseded or event.op == "unreadable"


def version_of(event: Event) -> int | None:
    """The znode's data version."""
    version = stat_of(event).version
    return 0 if version is None and event.op == "create" else version


def is_echo(state: State, event: Event) -> bool:
    """A read that repeats the standing state; what is unknown repeats nothing."""
    czxid, version = stat_of(event).czxid, version_of(event)
    if event.op != "read" or czxid is None or version is None:
        return False
    standing = (state.row["czxid"], state.row["znode_version"], state.row["fidelity"])
    return (czxid, version, event.fidelity) == standing


def is_second_half(state: State, event: Event) -> bool:
    """Kafka 2.2+ registers by create(null) + set in one multi: one life, one row."""
    if not state.is_blank or event.op != "set":
        return False
    stat = stat_of(event)
    if is_other_life(state.row, stat.czxid):
        return False
    zxid = event.zxid if stat.mzxid is None else stat.mzxid
    same_zxid = zxid is not None and zxid == state.row["valid_from_zxid"]
    return same_zxid or (stat.mzxid is not None and stat.mzxid == stat.czxid)


def is_other_life(row: Row, czxid: int | None) -> bool:
    """Known to be; an unknown czxid counts as the same life."""
    return None not in (row["czxid"], czxid) and row["czxid"] != czxid


def begin(event: Event, value: Value | None = None) -> State:
    """A state begins with a create, set or read."""
    value = value or value_of(event)
    stat = stat_of(event)
    is_create = event.op == "create"
    zxid = stat.czxid if is_create else stat.mzxid
    at = stat.ctime if is_create else stat.mtime
    row = {
        **value.columns,
        "session": session_of(event),
        "czxid": stat.czxid,
        "znode_version": version_of(event),
        "fidelity": event.fidelity,
        "is_known": value.is_known,
        "decode_error": value.decode_error,
        "unseen_versions": 0,
        "seen_seq": event.seq,
        "valid_from_seq": event.seq,
        "valid_from_zxid": event.zxid if zxid is None else zxid,
        "valid_from_at": timestamp(event.observed_at_ms if at is None else at),
        **OPEN,
    }
    return State(event, row, is_blank=not value.is_known and value.decode_error is None)


OPEN: Row = {
    "valid_to_seq": None,
    "valid_to_zxid": None,
    "valid_to_at": None,
    "valid_to_at_min": None,
    "is_clamped": False,
    "is_open": True,
    "ended_by": None,
    "closed_on": None,
}


def end(
    row: Row, ended_by: str, seq: int, zxid: int | None, at: int | None, at_min: int | None = None
) -> None:
    """Close a row; no end lies before its beginning."""
    began_at = row["valid_from_at"]
    if None not in (at, began_at) and at < began_at:
        at = began_at
        row["is_clamped"] = True
    row["valid_to_seq"] = seq
    row["valid_to_zxid"] = zxid
    row["valid_to_at"] = at
    row["valid_to_at_min"] = at_min
    row["is_open"] = False
    row["ended_by"] = ended_by
    row["closed_on"] = date_of(at)


def end_by_next(row: Row, following: State, event: Event) -> None:
    """Close a row because another state of the same znode begins."""
    if event.op == "create" or is_other_life(row, following.row["czxid"]):
        ended_by = "recreated"
    elif following.row["decode_error"] is not None:
        ended_by = "unreadable"
    else:
        ended_by = "changed"
    zxid, at = following.row["valid_from_zxid"], following.row["valid_from_at"]
    end(row, ended_by, event.seq, zxid, at)


def unseen_before(former: Row | None, row: Row, event: Event) -> int:
    """Data versions of this life between the former state and this one."""
    if event.op == "create" or former is None or is_other_life(former, row["czxid"]):
        return 0
    if row["znode_version"] is None or former["znode_version"] is None:
        return 0
    return max(0, int(row["znode_version"]) - int(former["znode_version"]) - 1)


def date_of(ms: int | None) -> str | None:
    """The UTC date of a timestamp."""
    return None if ms is None else datetime.fromtimestamp(ms // 1000, UTC).date().isoformat()
