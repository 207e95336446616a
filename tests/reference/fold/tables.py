"""The plain fold: events in, all tables out, one event after the other. Made to be read, not fast.

It follows the contract of the tables and knows nothing of how the product folds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tests.reference.fold import admin_operations, configs
from tests.reference.fold.admin_operations import AdminOperations
from tests.reference.fold.configs import Configs
from tests.reference.fold.controllers import Controllers
from tests.reference.fold.exits import tell_exits
from tests.reference.fold.frames import Frames
from tests.reference.fold.gaps import Gaps
from tests.reference.fold.intervals import Intervals
from tests.reference.fold.kafka_groups import KafkaGroups
from tests.reference.fold.keys import ZNODE_TABLES, place_of
from tests.reference.fold.runs import Run
from tests.reference.fold.states import State
from zklake.events.envelope import Event

Row = dict[str, Any]
Tables = dict[str, list[Row]]

# By table: the key, less the cluster.
KEYS: dict[str, tuple[str, ...]] = {
    "broker_membership": ("broker_id",),
    "topics": ("topic", "broker_id"),
    "partition_state": ("topic", "partition"),
    "consumer_membership": ("coordinator", "group_id", "member_id"),
    "ownership_history": (
        "coordinator",
        "group_id",
        "topic",
        "partition",
        "broker_id",
    ),
    "consumer_offsets": ("coordinator", "group_id", "topic", "partition", "broker_id"),
    "cluster_state": ("path",),
    "config_history": ("entity_type", "entity_name", "client_id", "config_key"),
    "admin_operations": ("operation", "topic", "partition"),
    "controller": (),
    "log_gaps": ("gap_id",),
    "znode_events": ("seq",),
}


def fold_events(events: Iterable[Event]) -> Tables:
    """Fold the logs of any number of clusters; each cluster's events come in order of seq."""
    folds: dict[str, ClusterFold] = {}
    for event in events:
        folds.setdefault(event.cluster, ClusterFold()).take(event)
    tables: Tables = {table: [] for table in KEYS}
    for cluster, fold in folds.items():
        for table, rows in fold.tables().items():
            tables[table] += [{"cluster": cluster, **row} for row in rows]
    for table, rows in tables.items():
        rows.sort(key=lambda row, key=KEYS[table]: _order(row, key))  # type: ignore[misc]
    return tables


def _order(row: Row, key: tuple[str, ...]) -> tuple[Any, ...]:
    """By cluster, key and begin; no broker_id comes before any."""
    parts = [(row[name] is not None, row[name]) for name in key]
    return (row["cluster"], *parts, row.get("valid_from_seq", 0))


class ClusterFold:
    """All tables of one cluster."""

    def __init__(self) -> None:
        self.intervals = {table: Intervals(table) for table in KEYS if table in ZNODE_TABLES}
        names = ("consumer_membership", "ownership_history", "consumer_offsets")
        self.kafka_groups = KafkaGroups(*(self.intervals[name] for name in names))
        self.controllers = Controllers()
        self.configs = Configs()
        self.operations = AdminOperations()
        self.gaps = Gaps()
        self.frames = Frames()
        self.run = Run()
        self.records: list[Row] = []
        # What tell_exits looks back on.
        self.events: list[Event] = []
        self._folded: set[tuple[Any, ...]] = set()
        self._minutes: set[int] = set()

    def tables(self) -> Tables:
        """All rows so far."""
        tables = {
            table: [state.row for state in fold.states] for table, fold in self.intervals.items()
        }
        tables["controller"] = [state.row for state in self.controllers.states]
        tables["config_history"] = [state.row for state in self.configs.states]
        tables["admin_operations"] = [state.row for state in self.operations.states]
        tell_exits(tables, self.events)
        return {**tables, "log_gaps": self.gaps.rows, "znode_events": self.records}

    def take(self, event: Event) -> None:
        """Fold one event; of two with one seq the first counts."""
        identity: tuple[Any, ...] = (event.seq,)
        if event.op == "seq_repeat":
            # It speaks of a seq that stands in the log already.
            identity = (event.seq, event.gap.id if event.gap else None)
        if identity in self._folded:
            return
        self._folded.add(identity)
        self.events.append(event)
        self._record(event)
        self._pass_run(event)
        self._fold(event)

    def _record(self, event: Event) -> None:
        """znode_events keeps everything, and of each minute's heartbeats the first."""
        minute = event.observed_at_ms // 60_000
        if event.op == "heartbeat":
            if minute in self._minutes:
                return
            self._minutes.add(minute)
        self.records.append({"seq": event.seq})

    def _pass_run(self, event: Event) -> None:
        # Samples are nothing that happened in ZooKeeper.
        passing = ("heartbeat", "log_ends", "group_commit", "group_state")
        if event.op not in ("delete", "seq_repeat", *passing):
            self.run.break_off()

    def _fold(self, event: Event) -> None:
        match event.op:
            case "create" | "set" | "read" | "unreadable":
                self._take(event)
            case "delete":
                self._delete(event)
            case "gap":
                self.gaps.take(event)
            case "frame_begin":
                self.frames.begin(event)
            case "in_sync":
                self._sync(event)
            case "seq_hole":
                self.frames.miss(event)
                self.operations.miss()
                self.gaps.take_break(event)
            case "seq_repeat":
                self.gaps.take_break(event)
            case "log_ends" | "group_commit" | "group_state":
                self.kafka_groups.take(event)

    def _take(self, event: Event) -> None:
        if event.kind == "controller":
            self.controllers.take(event)
        elif event.kind == "controller_epoch":
            self.controllers.take_epoch(event)
        elif event.kind in configs.KINDS:
            self.configs.take(event)
        elif place := place_of(event.kind, event.path):
            self.intervals[place.table].take(event, place)
        if event.kind in admin_operations.KINDS:
            self.operations.take(event)

    def _delete(self, event: Event) -> None:
        # An end that was only inferred lies somewhere in the gap.
        at_min = self.gaps.from_at if event.origin == "resync" else None
        state: State | None = None
        if event.kind == "controller":
            state = self.controllers.delete(event, at_min)
        elif event.kind == "controller_epoch":
            self.controllers.forget_epoch()
        elif event.kind in configs.KINDS:
            self.configs.delete(event, at_min)
        elif place := place_of(event.kind, event.path):
            state = self.intervals[place.table].delete(event, place, at_min)
            is_kraft = (self.controllers.kraft_controller_epoch or 0) > 0
            if state is not None and is_kraft and place.table == "broker_membership":
                state.row["ended_by"] = "migrated"
        if event.kind in admin_operations.KINDS:
            self.operations.delete(event, at_min, is_blind=bool(self.gaps.open))
        self.run.take(event, state, self._standing())

    def _sync(self, event: Event) -> None:
        begin_seq = self.frames.complete(event)
        if begin_seq is not None:
            at_min = self.gaps.from_at
            for table in self.intervals.values():
                table.close_unseen(event, begin_seq, at_min)
            self.controllers.close_unseen(event, begin_seq, at_min)
            self.configs.close_unseen(event, begin_seq, at_min)
            self.operations.close_unseen(event, begin_seq, at_min)
        self.gaps.end_all(event)

    def _standing(self) -> Iterator[State]:
        for table in self.intervals.values():
            yield from table.standing.values()
        if self.controllers.standing is not None:
            yield self.controllers.standing
