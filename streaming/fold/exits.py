"""How somebody left: in order, by a crash, or nobody can say; and what shows it. Pure.

Both look alike in ZooKeeper: a session ends. What comes before differs. An old consumer that stops
in order commits where it is and closes its session at once; one that dies is missed only when its
session times out. A broker that stops in order has the controller take its partitions from it
before it goes. Nothing that comes later is asked: a row never says what was learned after its end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from streaming.fold.changes import OwnerState, PartitionKey
from streaming.fold.rebalances.tries import read_times
from zklake.events.envelope import RECORDED_ORIGINS, Event

# No session times out sooner: a commit within this before its end was the last deed of its member.
_LAST_DEED_MS = 1_000
# Without a commit for so long, though there were records to read, nobody stopped in order.
_SILENT_MS = 2_000
# Who commits nothing for longer, though there are records, was stuck: how it ended is another tale.
_STUCK_MS = 120_000
# So long before it goes a broker may begin to hand over.
_HAND_OVER_MS = 30_000
# Of so many commits it is remembered how late the watcher saw them.
COMMITS = 16


class Exit(NamedTuple):
    """What the columns `exit` and `exit_evidence` say."""

    exit: Literal["clean", "crashed", "unknown"]
    evidence: str


HIDDEN = Exit("unknown", "a gap hid how it left")
UNSEEN = Exit("unknown", "it was replaced before anybody saw it leave")
BY_KAFKA = Exit("unknown", "Kafka keeps the group: who left and who timed out look alike")
_NO_SESSION = Exit("unknown", "its session is not known")


class ReadPosition(NamedTuple):
    """How far a group's partition was read: the last commit, and the end of the log as sampled."""

    commit_seq: int | None
    committed: int | None
    commit_ms: int | None
    log_end: int | None


# Of a partition of a group.
FindReading = Callable[[str, PartitionKey], ReadPosition]


class Held(NamedTuple):
    """A partition that a member held when it left."""

    key: PartitionKey
    owner: OwnerState
    reading: ReadPosition


class Clocks:
    """How much later than ZooKeeper's clock says the watcher saw the last commits.

    That is how the two clocks differ, and how late the watcher was. A delete bears no time of
    ZooKeeper's, so only with both can it be said how long after a commit it came.
    """

    def __init__(self, late_ms: Iterable[int] = ()) -> None:
        """`late_ms`: of the last commits, the oldest first."""
        self._late_ms = deque(late_ms, maxlen=COMMITS)

    def apply(self, event: Event) -> None:
        """Take one event of an offset."""
        late_ms = read_lateness(event)
        if late_ms is not None:
            self._late_ms.append(late_ms)

    def find_age(self, own_ms: int, seen_ms: int) -> tuple[int, int]:
        """(at least, at most) how long before something was seen another was, by ZooKeeper."""
        least, most = min(self._late_ms, default=0), max(self._late_ms, default=0)
        return seen_ms - own_ms - most, seen_ms - own_ms - least


def read_lateness(event: Event) -> int | None:
    """How much later than ZooKeeper's clock says a commit was seen; None: it does not say."""
    if event.origin not in RECORDED_ORIGINS or event.op not in ("create", "set"):
        return None
    seen_ms, own_ms = read_times(event)
    return None if own_ms is None else seen_ms - own_ms


class MemberExits:
    """How members of ZooKeeper's groups left.

    The znodes of a session go one by one: what it held is looked at before the first of them goes.
    """

    def __init__(self) -> None:
        self.clocks = Clocks()
        self._run: tuple[int, str, Exit] | None = None

    def end_run(self) -> None:
        """Something happened that is no part of the end of that session."""
        self._run = None

    def judge(
        self,
        session: int | None,
        group_id: str,
        owners: dict[PartitionKey, OwnerState],
        find_reading: FindReading,
        seen_ms: int,
    ) -> Exit:
        """Of the member with that session; `owners` are the group's as they still stand."""
        if session is None:
            return _NO_SESSION
        if self._run is None or self._run[:2] != (session, group_id):
            held = [
                Held(key, owner, find_reading(group_id, key))
                for key, owner in sorted(owners.items())
                if owner.session == session
            ]
            self._run = session, group_id, judge_member(held, self.clocks, seen_ms)
        return self._run[2]


def judge_member(held: Sequence[Held], clocks: Clocks, seen_ms: int) -> Exit:
    """How a member left that held this; `seen_ms`: when it was seen to leave."""
    if not held:
        return Exit("unknown", "it owned nothing")
    newest: tuple[int, int, PartitionKey] | None = None
    for key, owner, reading in held:
        if reading.commit_ms is not None and (reading.commit_seq or 0) > owner.from_seq:
            least, most = clocks.find_age(reading.commit_ms, seen_ms)
            newest = min(newest or (most, least, key), (most, least, key))
    if newest is not None and newest[0] <= _LAST_DEED_MS:
        return Exit("clean", f"it committed {_name(newest[2])} {max(0, newest[0])} ms before")
    if newest is not None and newest[1] <= _SILENT_MS:
        return Exit("unknown", f"its last commit was {newest[1]} to {newest[0]} ms before")
    return _judge_silence(held, clocks, seen_ms)


def _judge_silence(held: Sequence[Held], clocks: Clocks, seen_ms: int) -> Exit:
    """It committed nothing when it left: a crash only if there was something to commit."""
    waiting = 0
    silent_ms: int | None = None
    for _, owner, reading in held:
        if None in (reading.committed, reading.log_end, owner.from_ms):
            continue
        assert reading.committed is not None
        assert reading.log_end is not None
        assert owner.from_ms is not None
        since_ms = max(owner.from_ms, reading.commit_ms or 0)
        least, _ = clocks.find_age(since_ms, seen_ms)
        if reading.log_end > reading.committed >= 0 and least > _SILENT_MS:
            waiting += reading.log_end - reading.committed
            silent_ms = least if silent_ms is None else min(silent_ms, least)
    if silent_ms is None:
        return Exit("unknown", "nothing is known to have waited for it that it did not commit")
    if silent_ms > _STUCK_MS:
        return Exit("unknown", "it had committed nothing for long, though records waited")
    return Exit("crashed", f"no commit in its last {silent_ms} ms, and {waiting} records waited")


class PartitionHeld(NamedTuple):
    """The state of a partition when a broker left."""

    key: PartitionKey
    leader: int | None
    isr: Sequence[int] | None
    from_ms: int | None


def judge_broker(
    broker_id: int,
    states: Iterable[PartitionHeld],
    find_replicas: Callable[[PartitionKey], Sequence[int]],
    seen_ms: int,
) -> Exit:
    """How a broker left; `states` are those of all partitions as they still stand."""
    led = followed = given = 0
    for key, leader, isr, from_ms in states:
        if isr is None:
            continue
        if leader == broker_id:
            led += any(other != broker_id for other in isr)
        elif broker_id in isr:
            followed += 1
        elif from_ms is not None and seen_ms - from_ms <= _HAND_OVER_MS:
            given += broker_id in find_replicas(key)
    if led:
        return Exit("crashed", f"it still led {led} partitions that others could have led")
    if followed:
        return Exit("crashed", f"it was still in the ISR of {followed} partitions")
    if given:
        return Exit("clean", f"{given} partitions were taken from it right before")
    return Exit("unknown", "it led nothing, and was in no ISR")


def _name(key: PartitionKey) -> str:
    return f"{key.topic}-{key.partition}"
