"""How members and brokers of one cluster left: what exits.py judges, found in the cluster's folds.

Pure. It keeps nothing that the lake does not have but how late the last commits were seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from delta_tables.tables.broker_membership import BROKER_MEMBERSHIP
from delta_tables.tables.consumer_membership import CONSUMER_MEMBERSHIP
from delta_tables.tables.ownership_history import OWNERSHIP_HISTORY
from delta_tables.tables.partition_state import PARTITION_STATE
from delta_tables.tables.topics import TOPICS
from streaming.fold.apart import Apart, ReadEvents
from streaming.fold.changes import GroupKey, PartitionKey
from streaming.fold.context import Context
from streaming.fold.exits import (
    HIDDEN,
    Exit,
    MemberExits,
    PartitionHeld,
    ReadPosition,
    judge_broker,
)
from streaming.fold.frames import Closure
from streaming.fold.group_folds import GroupFolds
from streaming.fold.intervals import IntervalFold, Spot
from streaming.fold.lag.fold import LagFold
from streaming.fold.sessions import PASSING
from zklake.events.envelope import Event

_NOTHING = ReadPosition(None, None, None, None)
_BREAKS_NO_RUN = frozenset((*PASSING, "seq_repeat"))


class ClusterExits:
    """Asks the folds of a cluster; whoever leaves is judged before its znode's delete is folded."""

    def __init__(
        self, intervals: Mapping[str, IntervalFold], find_groups: Callable[[], GroupFolds]
    ) -> None:
        self.members = MemberExits()
        self._find_groups = find_groups
        self._owners = intervals[OWNERSHIP_HISTORY.name]
        self._members = intervals[CONSUMER_MEMBERSHIP.name]
        self._states = Apart(intervals[PARTITION_STATE.name])
        self._topics = Apart(intervals[TOPICS.name])
        self._apart = {"partition_state": self._states, "topic": self._topics}
        self._state_names = intervals[PARTITION_STATE.name].payload_names
        self._topic_names = intervals[TOPICS.name].payload_names
        self._members.find_exit = self._find_member
        intervals[BROKER_MEMBERSHIP.name].find_exit = self._find_broker

    def follow(self, event: Event, context: Context) -> Context:
        """An event comes, nothing of it is folded yet; the context with how its member left."""
        if event.kind == "offset":
            self.members.clocks.apply(event)
        if not context.closes_session:
            if event.op not in _BREAKS_NO_RUN:
                self.members.end_run()
            return context
        # Its owners may go before it does.
        table = {"owner": self._owners, "consumer": self._members}.get(event.kind or "")
        spot = None if table is None else table.find_spot(event)
        session = None if table is None or spot is None else table.find_session(spot.key)
        if spot is None or session is None:
            return context
        judged = HIDDEN if context.is_blind else self._judge_member(session, spot.parts[2], event)
        return context._replace(exit=judged.exit)

    def divide(self, read_states: ReadEvents | None) -> None:
        """Rows are made elsewhere from here on."""
        self._states.begin(read_states)

    def note_apart(self, event: Event) -> None:
        """An event comes whose own row is made elsewhere."""
        if (apart := self._apart.get(event.kind or "")) is not None:
            apart.note(event)

    def close_apart(self, table: str, closure: Closure) -> None:
        """A complete look ends, and with it rows of a table that are made elsewhere."""
        for apart in self._apart.values():
            if apart.table == table:
                apart.close(closure)

    def settle(self) -> None:
        """What was made elsewhere is in the folds now."""
        for apart in self._apart.values():
            apart.settle()

    def _find_member(self, event: Event, spot: Spot, context: Context) -> Exit:
        if context.is_blind or event.origin == "resync":
            return HIDDEN
        session = self._members.find_session(spot.key)
        judged = self._judge_member(session, spot.parts[2], event)
        if not context.closes_session:
            self.members.end_run()
        return judged

    def _judge_member(self, session: int | None, group_id: str, event: Event) -> Exit:
        groups = self._find_groups()
        groups.begin(event.seq)
        lag = next((fold for fold in groups.folds if isinstance(fold, LagFold)), None)
        return self.members.judge(
            session,
            group_id,
            groups.cluster_state.owners.get(GroupKey("zookeeper", group_id), {}),
            (lambda *_: _NOTHING) if lag is None else lag.find_reading,
            event.observed_at_ms,
        )

    def _find_broker(self, event: Event, spot: Spot, context: Context) -> Exit:
        if context.is_blind or event.origin == "resync":
            return HIDDEN
        self._states.read_up_to(event.seq)
        states, seen_ms = self._list_states(), event.observed_at_ms
        return judge_broker(spot.key[0], states, self._find_replicas, seen_ms)

    def _list_states(self) -> Iterator[PartitionHeld]:
        leader, isr = map(self._state_names.index, ("leader", "isr"))
        for key, row in self._states.list_rows():
            yield PartitionHeld(
                PartitionKey(*key), row.values[leader], row.values[isr], row.from_ms
            )

    def _find_replicas(self, key: PartitionKey) -> Sequence[int]:
        row = self._topics.find_row((key.topic, None), f"/brokers/topics/{key.topic}")
        replicas = None if row is None else row.values[self._topic_names.index("replicas")]
        found: Sequence[int] = (replicas or {}).get(key.partition, ())
        return found
