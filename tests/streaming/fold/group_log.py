"""A log of one group, written line by line; the same tests follow it whole or cut in two."""

from __future__ import annotations

import json
from typing import Any

from streaming.fold.changes import Change
from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.frames import Closure
from streaming.fold.group_fold import TableRows
from streaming.fold.rebalances.fold import RebalanceFold
from zklake.events.envelope import Event, Frame, Gap, Stat
from zklake.events.samples import GroupReading, GroupState, LogEnds, Member, Round, TopicPartitions

CLUSTER = "c"
GROUP = "g"
START_MS = 1_794_793_000_000
Row = dict[str, Any]


class GroupLog:
    """Events of a group `g`, each a moment after the one before."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.closes: set[tuple[str, int]] = set()
        self.closures: dict[tuple[str, int], Closure] = {}
        self.now_ms = START_MS
        # By how much ZooKeeper's clock is ahead of the watcher's.
        self.skew_ms = 0
        # By how much the watcher sees late what happens now.
        self.late_ms = 0
        self.sessions: dict[str, int] = {}
        self._versions: dict[str, int] = {}
        self._czxids: dict[str, int] = {}

    def context(self, event: Event) -> Context:
        place = (CLUSTER, event.seq)
        return Context(place in self.closes, self.closures.get(place))

    def say(self, op: Any, after_ms: int = 10, **fields: Any) -> Event:
        self.now_ms += after_ms
        last_ms = self.events[-1].observed_at_ms if self.events else 0
        seen_ms = max(self.now_ms + self.late_ms, last_ms)
        event = Event(CLUSTER, "log", len(self.events), op, seen_ms, **fields)
        self.events.append(event)
        return event

    def wait(self, ms: int) -> None:
        """A heartbeat, so late."""
        self.say("heartbeat", ms)

    def put(self, op: Any, kind: str, path: str, data: str | None, **fields: Any) -> Event:
        session = fields.pop("session", None)
        seq = len(self.events)
        if op in ("create", "read") and not fields.pop("is_same", False):
            self._czxids[path], self._versions[path] = seq, 0
        elif op == "set":
            self._versions[path] += 1
        after_ms = fields.pop("after_ms", 10)
        at_ms = self.now_ms + after_ms + self.skew_ms
        stat = Stat(
            czxid=self._czxids.get(path),
            mzxid=seq,
            ctime=at_ms,
            mtime=at_ms,
            version=self._versions.get(path),
            ephemeral_owner=session or 0,
        )
        fields = {"origin": "watch", **fields}
        return self.say(op, after_ms, kind=kind, path=path, data=data, stat=stat, **fields)

    def drop(self, kind: str, path: str, *, closes: bool = False, **fields: Any) -> None:
        fields = {"origin": "watch", **fields}
        event = self.say("delete", kind=kind, path=path, zxid=len(self.events), **fields)
        if closes:
            self.closes.add((CLUSTER, event.seq))

    def topic(self, name: str, partitions: int, op: Any = "create", **fields: Any) -> None:
        replicas = {str(number): [1] for number in range(partitions)}
        data = json.dumps({"version": 1, "partitions": replicas})
        self.put(op, "topic", f"/brokers/topics/{name}", data, **fields)

    def drop_topic(self, name: str) -> None:
        self.drop("topic", f"/brokers/topics/{name}")

    def join(
        self, member: str, topic: str = "t", pattern: str = "static", op: Any = "create", **f: Any
    ) -> None:
        self.sessions[member] = len(self.events) + 1000
        data = json.dumps({"version": 1, "pattern": pattern, "subscription": {topic: 1}})
        path = f"/consumers/{GROUP}/ids/{member}"
        self.put(op, "consumer", path, f.pop("data", data), session=self.sessions[member], **f)

    def leave(self, member: str, *partitions: int, owners_first: bool = False) -> None:
        """Its session ends, and all its ephemerals with it."""
        if not owners_first:
            self.drop("consumer", f"/consumers/{GROUP}/ids/{member}", closes=True)
        for partition in partitions:
            self.release(partition, closes=True)
        if owners_first:
            self.drop("consumer", f"/consumers/{GROUP}/ids/{member}", closes=True)

    def claim(self, member: str, *partitions: int | str, topic: str = "t", **fields: Any) -> None:
        for partition in partitions:
            path = f"/consumers/{GROUP}/owners/{topic}/{partition}"
            op = fields.get("op", "create")
            rest = {name: value for name, value in fields.items() if name != "op"}
            self.put(op, "owner", path, f"{member}-0", session=self.sessions.get(member), **rest)

    def release(self, *partitions: int, topic: str = "t", **fields: Any) -> None:
        for partition in partitions:
            self.drop("owner", f"/consumers/{GROUP}/owners/{topic}/{partition}", **fields)

    def gap(self, after_ms: int = 10) -> None:
        self.say("gap", after_ms, path="/", gap=Gap(f"gap{len(self.events)}", "disconnected"))

    def in_sync(self, closes_from: int | None = None) -> None:
        event = self.say("in_sync", frame=Frame("f", "none"))
        if closes_from is not None:
            place = (CLUSTER, event.seq)
            self.closures[place] = Closure(CLUSTER, closes_from, event.seq, event.observed_at_ms)

    def state(self, members: dict[str, list[int]] | None, **fields: Any) -> None:
        """What the offsets topic says of the Kafka-stored group `g`."""
        told = None
        if members is not None:
            told = tuple(
                Member(m, subscription=("t",), assignment=(TopicPartitions("t", tuple(p)),))
                for m, p in members.items()
            )
        count = fields.pop("member_count", None if members is None else len(members))
        state = {"state": "Stable", "protocol_type": "consumer", "at_ms": self.now_ms, **fields}
        said = GroupState(GROUP, members=told, member_count=count, **state)
        self.say("group_state", group_state=said)

    def round(self, complete_since: int | None, **reading: Any) -> None:
        groups = GroupReading("offsets_topic", complete_since, **reading)
        self.say("log_ends", log_ends=LogEnds(round=Round(0, groups=groups)))


def follow(log: GroupLog) -> tuple[ClusterState, list[tuple[Change, ...]]]:
    """The cluster's state after all of it, and the changes of each event."""
    cluster_state = ClusterState()
    return cluster_state, [cluster_state.apply(event, log.context(event)) for event in log.events]


def fold(log: GroupLog, takes_each: bool = False) -> tuple[list[Row], list[Row]]:
    """(the rows that ended, the open ones)."""
    cluster_state, rebalances = ClusterState(), RebalanceFold(CLUSTER)
    ended: list[Row] = []
    for event in log.events:
        context = log.context(event)
        rebalances.apply(event, cluster_state.apply(event, context), cluster_state, context)
        if takes_each and (taken := rebalances.take()):
            ended += taken["rebalances"].ended_rows
    taken = rebalances.take(idle=True)
    last = taken["rebalances"]
    return [*ended, *last.ended_rows], [*last.open_rows]


def fold_cut(log: GroupLog, cut: int, recall: Any) -> tuple[list[Row], list[Row]]:
    """The same, made anew from its rows and a recalled cluster's state after `cut` events."""
    cluster_state, rebalances = ClusterState(), RebalanceFold(CLUSTER)
    for event in log.events[:cut]:
        context = log.context(event)
        rebalances.apply(event, cluster_state.apply(event, context), cluster_state, context)
    first = rebalances.take(idle=True).get("rebalances", TableRows([], [], -1))
    cluster_state = recall(cluster_state)
    rebalances = RebalanceFold(CLUSTER, cluster_state, first.open_rows, seq=first.seq)
    for event in log.events[cut:]:
        context = log.context(event)
        rebalances.apply(event, cluster_state.apply(event, context), cluster_state, context)
    last = rebalances.take(idle=True)["rebalances"]
    return [*first.ended_rows, *last.ended_rows], [*last.open_rows]
