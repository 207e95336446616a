"""Who is there after each event: members, owners, topics and commits, of ZooKeeper and of Kafka.

Told plainly: everything that stands is compared before and after, and every moment is remembered.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from tests.reference.fold.frames import Frames
from tests.reference.fold.intervals import Intervals
from tests.reference.fold.kafka_presence import KafkaPresence
from tests.reference.fold.keys import place_of
from tests.reference.fold.things import Commit, Group, Member, Owner, Subject, Topic
from zklake.events.envelope import Event

Thing = Member | Owner | Topic | Commit
What = Literal["member", "owner", "topic", "commit"]
Things = dict[Any, Thing]
Cause = Literal["event", "seen", "session_ended", "inferred", "resync"]
_TABLES: dict[str, What] = {
    "consumer_membership": "member",
    "ownership_history": "owner",
    "topics": "topic",
    "consumer_offsets": "commit",
}


class Move(NamedTuple):
    """One thing came, changed or went."""

    what: What
    key: Any
    before: Any
    after: Any
    cause: Cause

    @property
    def is_coming(self) -> bool:
        """It came, or another life of it did."""
        return self.after is not None and (self.before is None or self._is_replaced)

    @property
    def is_going(self) -> bool:
        """It went, or gave way to another life."""
        return self.before is not None and (self.after is None or self._is_replaced)

    @property
    def _is_replaced(self) -> bool:
        return bool(self.before.life != self.after.life)


@dataclass(frozen=True)
class Moment:
    """What stood after an event. `moves`: what it changed."""

    event: Event
    members: dict[tuple[Group, str], Member]
    owners: dict[Subject, Owner]
    topics: dict[str, Topic]
    commits: dict[Subject, Commit]
    kafka_groups: frozenset[Group]
    # Those of them of which it is not known who is in them; they may be live.
    unknown_groups: frozenset[Group]
    # Those of which an owner may not have been told.
    unassigned_groups: frozenset[Group]
    moves: tuple[Move, ...]
    is_blind: bool


def follow(events: list[Event], session_closes: Collection[int]) -> list[Moment]:
    """The moments of one cluster's log; `session_closes`: the deletes that ended a session."""
    presence = _Presence(session_closes)
    return [presence.take(event) for event in events]


class _Presence:
    def __init__(self, session_closes: Collection[int]) -> None:
        self.session_closes = session_closes
        self.tables = {table: Intervals(table) for table in _TABLES}
        self.kafka = KafkaPresence()
        self.frames = Frames()
        self.events: dict[int, Event] = {}
        self.last: dict[What, Things] = {what: {} for what in _TABLES.values()}
        self.is_blind = False

    def take(self, event: Event) -> Moment:
        """Apply one event."""
        self.events[event.seq] = event
        is_blind = self.is_blind
        has_closed = self._apply(event)
        self.kafka.take(event)
        cause = self._cause(event, has_closed)
        now = {what: self._stand(table, what) for table, what in _TABLES.items()}
        moves = [
            Move(what, key, self.last[what].get(key), things.get(key), cause)
            for what, things in now.items()
            for key in _find_differing(self.last[what], things)
        ]
        self.last = now
        return Moment(
            event,
            members=now["member"],  # type: ignore[arg-type]
            owners=now["owner"],  # type: ignore[arg-type]
            topics=now["topic"],  # type: ignore[arg-type]
            commits=now["commit"],  # type: ignore[arg-type]
            kafka_groups=frozenset(n for n in self.kafka.said if isinstance(n, Group)),
            unknown_groups=frozenset(self.kafka.unknown),
            unassigned_groups=frozenset(self.kafka.unassigned),
            moves=tuple(moves),
            is_blind=is_blind,
        )

    def _apply(self, event: Event) -> bool:
        """Whether a frame ended what it did not show."""
        place = place_of(event.kind, event.path)
        table = self.tables.get(place.table) if place else None
        if event.op in ("create", "set", "read", "unreadable") and place and table:
            table.take(event, place)
        elif event.op == "delete" and place and table:
            table.delete(event, place, None)
        elif event.op == "frame_begin":
            self.frames.begin(event)
        elif event.op == "seq_hole":
            self.frames.miss(event)
        elif event.op == "gap":
            self.is_blind |= event.path == "/" and bool(event.gap) and event.gap.lives is None  # type: ignore[union-attr]
        elif event.op == "in_sync":
            self.is_blind = False
            begin_seq = self.frames.complete(event)
            for each in self.tables.values() if begin_seq is not None else ():
                each.close_unseen(event, begin_seq or 0, None)
            return begin_seq is not None
        return False

    def _cause(self, event: Event, has_closed: bool) -> Cause:
        if has_closed or event.op == "log_ends":
            return "resync"
        if event.seq in self.session_closes:
            return "session_ended"
        if event.origin == "resync":
            return "inferred"
        return "seen" if event.op == "read" else "event"

    def _stand(self, table: str, what: What) -> Things:
        things: Things = {}
        for state in self.tables[table].standing.values():
            row = state.row
            if row.get("broker_id") is None:
                key, thing = _TELL[what](row, self.events[row["valid_from_seq"]])
                things[key] = self._carry_life(row, self.last[what].get(key), thing)
        kafka: dict[What, Any] = {
            "member": self.kafka.members,
            "owner": self.kafka.owners,
            "commit": self.kafka.commits,
        }
        return {**things, **kafka.get(what, {})}

    def _carry_life(self, row: dict[str, Any], former: Thing | None, thing: Thing) -> Thing:
        """The same life, unless it is the first, or was created again, or has another czxid."""
        if former is None or isinstance(thing, Commit) or isinstance(former, Commit):
            return thing
        event = self.events[row["valid_from_seq"]]
        is_new_state = former.seq != thing.seq
        is_other = None not in (former.czxid, row["czxid"]) and former.czxid != row["czxid"]
        if is_new_state and (event.op == "create" or is_other):
            return thing
        return replace(thing, life=former.life, born_by=former.born_by)


def _find_differing(before: Things, after: Things) -> list[Any]:
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return sorted(keys, key=repr)


def _tell_member(row: dict[str, Any], event: Event) -> tuple[Any, Thing]:
    group = Group("zookeeper", row["group_id"])
    subscription = row["subscription"] if row["is_known"] else None
    life = (event.seq, event.seq, event.op, row["czxid"])
    return (group, row["member_id"]), Member(*life, row["pattern"], subscription, row["session"])


def _tell_owner(row: dict[str, Any], event: Event) -> tuple[Any, Thing]:
    subject = Subject("zookeeper", row["group_id"], row["topic"], row["partition"])
    life = (event.seq, event.seq, event.op, row["czxid"])
    return subject, Owner(*life, row["owner"], row["owner_member_id"], row["session"])


def _tell_topic(row: dict[str, Any], event: Event) -> tuple[Any, Thing]:
    partitions = tuple(sorted(row["replicas"])) if row["replicas"] is not None else None
    life = (event.seq, event.seq, event.op, row["czxid"])
    return row["topic"], Topic(*life, partitions, row["znode_version"])


def _tell_commit(row: dict[str, Any], event: Event) -> tuple[Any, Thing]:
    subject = Subject("zookeeper", row["group_id"], row["topic"], row["partition"])
    at, zxid = row["valid_from_at"], row["valid_from_zxid"]
    return subject, Commit(event.seq, row["committed_offset"], at, zxid)


_TELL = {
    "member": _tell_member,
    "owner": _tell_owner,
    "topic": _tell_topic,
    "commit": _tell_commit,
}
