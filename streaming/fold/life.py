"""What an event does to the life of its znode: the one place where that is decided. Pure.

A life is one czxid: from a create to its delete. A state is one value in it. An event may begin a
life or a state, end them, or only show that the znode is there: a read that repeats the known
state, a write whose value nobody could read, a znode that the watcher may not read.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

from delta_tables.observation import read_millis
from zklake.events.envelope import Event, Stat

Verdict = Literal[
    "nothing",  # of a znode that is not known to be there
    "seen",  # it is there, and its state as it was
    "born",  # it was not known so far
    "changed",  # another state of the same life
    "recreated",  # another life, and nobody saw the former one end
    "ended",
]


class State(NamedTuple):
    """What identifies one state of a znode."""

    czxid: int | None
    version: int | None
    fidelity: str


class Moment(NamedTuple):
    """Where in the log and when something happened. `min_ms`: a gap hid it, it came after this."""

    seq: int
    zxid: int | None
    at_ms: int | None
    min_ms: int | None = None


_NO_STAT = Stat()
_SHOWS = ("create", "set", "read", "unreadable")


class Known(Protocol):
    """The state of a znode that stands: a State, or a row that holds one."""

    @property
    def czxid(self) -> int | None:
        """Of which life it is."""

    @property
    def version(self) -> int | None:
        """The version of its data."""

    @property
    def fidelity(self) -> str:
        """How true its data is."""


def judge(event: Event, known: Known | None) -> Verdict:
    """What an event does to a znode of which that state stands, if any."""
    if event.op == "delete":
        return "nothing" if known is None else "ended"
    if event.op not in _SHOWS:
        return "nothing"
    if is_touch(event):
        return "nothing" if known is None else "seen"
    if known is None:
        return "born"
    if is_echo(event, known):
        return "seen"
    return "recreated" if is_new_life(event, known.czxid) else "changed"


def read_state(event: Event) -> State:
    """The state that an event shows; a create without a version is version 0."""
    stat = event.stat or _NO_STAT
    is_born = event.op == "create" and stat.version is None
    return State(stat.czxid, 0 if is_born else stat.version, event.fidelity)


def is_touch(event: Event) -> bool:
    """A write whose value nobody could read, or a znode that the watcher may not read."""
    is_superseded = event.op != "create" and event.fidelity == "superseded"
    return is_superseded or event.op == "unreadable"


def is_echo(event: Event, known: Known) -> bool:
    """A read that repeats the known state; what is unknown repeats nothing."""
    if event.op != "read":
        return False
    state = read_state(event)
    held = (known.czxid, known.version, known.fidelity)
    return None not in state and state == held


def is_state(event: Event) -> bool:
    """The event shows a state of the znode."""
    return event.op in ("create", "set", "read") and not is_touch(event)


def read_life(event: Event, czxid: int | None) -> State:
    """The state that an event shows; `czxid`: that of the life that stands, if any is known."""
    state = read_state(event)
    return state if state.czxid is not None else state._replace(czxid=czxid)


def write_life(state: State) -> dict[str, Any]:
    """The columns of a row that show which state of the znode began it."""
    return {
        "czxid": state.czxid,
        "znode_version": state.version,
        "fidelity": state.fidelity,
    }


def is_new_life(event: Event, czxid: int | None) -> bool:
    """Whether a state, shown of an existing znode, belongs to another life than that one.

    An unknown czxid counts as the same life.
    """
    named = (event.stat or _NO_STAT).czxid
    return event.op == "create" or (None not in (named, czxid) and named != czxid)


def is_second_half(event: Event, former: Known, former_zxid: int | None) -> bool:
    """Whether a set completes a create without data: one life, one state.

    Kafka 2.2+ registers with one multi, create(null) + set.
    """
    if event.op != "set" or is_new_life(event, former.czxid):
        return False
    stat = event.stat or _NO_STAT
    zxid = event.zxid if stat.mzxid is None else stat.mzxid
    is_first = stat.mzxid is not None and stat.mzxid == stat.czxid
    return is_first or (zxid is not None and zxid == former_zxid)


def find_moment(event: Event) -> Moment:
    """The moment of a create, set, read or delete: by the znode's own clock, where it is known."""
    stat = event.stat or _NO_STAT
    if event.op == "create":
        zxid, at_ms = stat.czxid, stat.ctime
    elif event.op == "delete":
        zxid, at_ms = event.zxid, None
    else:
        zxid, at_ms = stat.mzxid, stat.mtime
    return Moment(
        event.seq,
        event.zxid if zxid is None else zxid,
        read_millis(event.observed_at_ms if at_ms is None else at_ms),
    )
