"""A log told line by line to the fold of lag, with what stands beside it. Time is in seconds."""

from __future__ import annotations

from typing import Any

from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.frames import Closure
from streaming.fold.lag.fold import LagFold
from streaming.fold.lag.status import Thresholds
from streaming.fold.row import Row
from zklake.events.envelope import Event, Gap, Op, Stat
from zklake.events.samples import (
    BrokerFailure,
    Commit,
    GroupCommits,
    GroupReading,
    GroupState,
    LogEnd,
    LogEnds,
    Member,
    Round,
    TopicPartitions,
)

# A whole hour, and so a whole minute.
BIRTH_MS = 1_794_795_600_000
Ends = dict[tuple[str, int], tuple[int, int]]


class LagLog:
    """Events of cluster `c`; `at(t)` sets the clock, every other call says one record."""

    def __init__(self, fold: LagFold | None = None) -> None:
        self.fold = fold or LagFold("c")
        self.cluster_state = ClusterState()
        self.seq = 0
        self.zxid = 100
        self.now_ms = BIRTH_MS
        self.events: list[Event] = []
        self.closed: dict[str, list[Row]] = {table: [] for table in LagFold.tables}
        self.open: dict[str, list[Row]] = {table: [] for table in LagFold.tables}

    def at(self, seconds: float) -> LagLog:
        self.now_ms = BIRTH_MS + round(seconds * 1000)
        return self

    def say(self, op: Op, context: Context | None = None, **fields: Any) -> int:
        self.seq += 1
        event = Event("c", "log", self.seq, op, self.now_ms, **fields)
        self.events.append(event)
        changes = self.cluster_state.apply(event, context or Context())
        self.fold.apply(event, changes, self.cluster_state, context or Context())
        return self.seq

    def znode(self, op: Op, path: str, kind: str, data: str | None = None, **stat: Any) -> int:
        self.zxid += 1
        known = {"mzxid": self.zxid, "mtime": self.now_ms, "ctime": self.now_ms, **stat}
        return self.say(op, path=path, kind=kind, data=data, stat=Stat(**known), zxid=self.zxid)

    def topic(self, name: str, partitions: int = 1, op: Op = "create") -> int:
        replicas = ",".join(f'"{number}":[1]' for number in range(partitions))
        data = f'{{"version":1,"partitions":{{{replicas}}}}}'
        path = f"/brokers/topics/{name}"
        self.zxid += 1
        return self.znode(op, path, "topic", data, czxid=self.zxid, version=0)

    def drop_topic(self, name: str) -> int:
        return self.say("delete", path=f"/brokers/topics/{name}", kind="topic")

    def offset(self, group: str, offset: int | str, topic: str = "t", op: Op = "set") -> int:
        path = f"/consumers/{group}/offsets/{topic}/0"
        czxid = self.zxid + 1 if op == "create" else 50
        return self.znode(op, path, "offset", str(offset), czxid=czxid, version=self.seq)

    def join(self, group: str, topic: str = "t", pattern: str = "static", member: str = "m") -> int:
        data = f'{{"version":1,"subscription":{{"{topic}":1}},"pattern":"{pattern}"}}'
        path = f"/consumers/{group}/ids/{member}"
        return self.znode("create", path, "consumer", data, czxid=self.zxid, ephemeral_owner=7)

    def leave(self, group: str, member: str = "m") -> int:
        return self.say("delete", path=f"/consumers/{group}/ids/{member}", kind="consumer")

    def claim(self, group: str, topic: str = "t", owner: str = "m-0") -> int:
        path = f"/consumers/{group}/owners/{topic}/0"
        return self.znode("create", path, "owner", owner, czxid=self.zxid, ephemeral_owner=7)

    def release(self, group: str, topic: str = "t", *, session_ended: bool = False) -> int:
        context = Context(closes_session=session_ended)
        return self.say(
            "delete", context, path=f"/consumers/{group}/owners/{topic}/0", kind="owner"
        )

    def state_of(self, topic: str, leader: int, isr: int = 1, op: Op = "set") -> int:
        data = (
            f'{{"version":1,"leader":{leader},"leader_epoch":1,"controller_epoch":1,"isr":[{isr}]}}'
        )
        path = f"/brokers/topics/{topic}/partitions/0/state"
        return self.znode(op, path, "partition_state", data, czxid=60, version=self.seq)

    def commit(self, group: str, offset: int | None, topic: str = "t", **fields: Any) -> int:
        said = Commit(group, topic, 0, offset, **fields)
        return self.say("group_commit", group_commit=GroupCommits((said,)))

    def kafka(self, group: str, *members: str, topic: str = "t") -> int:
        assigned = (TopicPartitions(topic, (0,)),)
        return self.state(
            group,
            *(
                Member(name, assignment=assigned if number == 0 else ())
                for number, name in enumerate(members)
            ),
        )

    def state(self, group: str, *members: Member, is_told: bool = True) -> int:
        """A Kafka-stored group; not `is_told`: its members did not fit the record."""
        said = GroupState(
            group,
            state="Stable" if members else "Empty",
            members=members if is_told else None,
            member_count=len(members),
        )
        return self.say("group_state", group_state=said)

    def round(
        self,
        ends: dict[str, int] | None = None,
        *,
        start: int = 0,
        after: int | None = None,
        brokers: tuple[int, ...] = (1,),
        failed: tuple[int, ...] = (),
        errors: dict[str, str] | None = None,
        is_base: bool = False,
        complete_since: int | None = None,
        broker_id: int = 1,
    ) -> int:
        """A sampling round; `ends` of partition 0 of topics."""
        entries = [LogEnd(name, 0, broker_id, start, end) for name, end in (ends or {}).items()]
        entries += [LogEnd(name, 0, broker_id, error=word) for name, word in (errors or {}).items()]
        groups = GroupReading("offsets_topic", complete_since)
        ended = Round(
            self.seq if after is None else after,
            brokers_answered=brokers,
            brokers_failed=tuple(BrokerFailure(each, "no answer yet") for each in failed),
            is_base=is_base,
            groups=groups,
        )
        return self.say("log_ends", log_ends=LogEnds(tuple(entries), ended))

    def gap(self) -> int:
        return self.say("gap", path="/", gap=Gap("g", "disconnected"))

    def in_sync(self, begin_seq: int | None = None) -> int:
        seq = self.seq + 1
        closure = Closure("c", begin_seq or 0, seq, self.now_ms)
        context = Context(closure=None if begin_seq is None else closure)
        return self.say("in_sync", context, path="/")

    def take(self) -> None:
        for table, taken in self.fold.take().items():
            self.open[table] = [*taken.open_rows]
            self.closed[table] += taken.ended_rows

    def lag(self, group: str = "g", coordinator: str = "zookeeper") -> Row:
        """The open row of a group."""
        self.take()
        (row,) = [
            row
            for row in self.open["offset_lag"]
            if (row["group_id"], row["coordinator"]) == (group, coordinator)
        ]
        return row

    def ends(self, topic: str = "t") -> Row:
        self.take()
        (row,) = [row for row in self.open["log_ends"] if row["topic"] == topic]
        return row

    def ended(self, table: str = "offset_lag") -> list[Row]:
        self.take()
        return self.closed[table]


def seconds(at_ms: int | None) -> float | None:
    """As the log counts them."""
    return None if at_ms is None else (at_ms - BIRTH_MS) / 1000


def working(thresholds: Thresholds | None = None) -> LagLog:
    """A group that has read and committed all there is, at 0 s."""
    log = LagLog(LagFold("c", thresholds))
    log.topic("t")
    log.join("g")
    log.claim("g")
    log.offset("g", 100, op="create")
    log.round({"t": 100}, is_base=True)
    return log
