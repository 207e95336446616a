"""A small cluster in simulated time, and what a watcher and a sampler would publish of it.

Producers write and old consumers (readers.py) read, record by record and second by second; brokers
go and come. Only what ZooKeeper and the brokers would show becomes an event, so a fold knows no
more of it than it would of a real cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.incidents.readers import Readers
from zklake.events.envelope import Event, Frame, Gap, Op, Stat
from zklake.events.samples import BrokerFailure, LogEnd, LogEnds, Round

# A whole hour, so that minutes are easy to read.
BIRTH_MS = 1_794_795_600_000
ROUND_S = 10
GROUP, TOPIC = "readers", "orders"
Act = Callable[["Simulation"], None]


@dataclass
class Log:
    """A partition: how far it is written, and by whom it is led."""

    leader: int
    write_rate: float
    end: float = 10_000
    # What producers could not write while there was no leader.
    held_back: float = 0
    is_led: bool = True


@dataclass
class Simulation:
    """One topic; `partitions` logs led by brokers 1, 2, 3 in turn, read by one group or more."""

    partitions: int = 4
    write_rate: float = 10
    read_rate: float = 15
    commit_s: int = 10
    session_s: int = 20
    names: tuple[str, ...] = ("a", "b")
    # Another group that reads the same, and its members.
    others: dict[str, tuple[str, ...]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    now_ms: int = BIRTH_MS

    def __post_init__(self) -> None:
        self.logs = [Log(n % 3 + 1, self.write_rate) for n in range(self.partitions)]
        self.groups = {name: Readers(self, name) for name in (GROUP, *self.others)}
        self.readers = self.groups[GROUP]
        self.brokers = {1, 2, 3}
        self.zxid, self._versions, self._born = 1000, dict[str, int](), dict[str, int]()
        self._acts: list[tuple[int, Act]] = []
        self._listed = dict[int, int]()

    @property
    def second(self) -> int:
        """How many have passed."""
        return (self.now_ms - BIRTH_MS) // 1000

    # What happens, second by second.

    def run(self, seconds: int, acts: list[tuple[int, Act]]) -> list[Event]:
        """All events of so many seconds; each act comes at its second."""
        self._acts = list(acts)
        self._begin()
        for second in range(1, seconds + 1):
            self.now_ms = BIRTH_MS + 1000 * second
            due = [act for at, act in self._acts if at == second]
            self._acts = [(at, act) for at, act in self._acts if at != second]
            for act in due:
                act(self)
            self._pass_second(second)
            if second % ROUND_S == 0:
                self.sample()
            self.say("heartbeat", path="/")
        return self.events

    def later(self, seconds: int, act: Act) -> None:
        """Do something so many seconds from now."""
        self._acts.append((self.second + seconds, act))

    def _begin(self) -> None:
        self.say("gap", path="/", gap=Gap("first", "first_start"))
        self.say("frame_begin", path="/", frame=Frame("f"))
        for broker_id in sorted(self.brokers):
            self._register(broker_id)
        self._write_topic()
        for number in range(self.partitions):
            self.write_state(number)
        for readers in self.groups.values():
            readers.begin()
        self.say("in_sync", path="/", frame=Frame("f", "none"))
        for name in self.names:
            self.readers.join(name)
        for group, names in self.others.items():
            for name in names:
                self.groups[group].join(name)
        self.sample(is_base=True)

    def _pass_second(self, second: int) -> None:
        for number, log in enumerate(self.logs):
            if log.is_led:
                log.end += log.write_rate + log.held_back
                log.held_back = 0
                for readers in self.groups.values():
                    readers.read(number)
            else:
                log.held_back += log.write_rate
        for readers in self.groups.values():
            readers.commit_due(second)

    # What people and machines do.

    def produce(self, write_rate: float, *numbers: int) -> None:
        """Producers write at another pace, to some partitions or all."""
        for number in numbers or range(self.partitions):
            self.logs[number].write_rate = write_rate

    def add_partitions(self, count: int) -> None:
        """Somebody adds partitions: producers write to them too, and every group rebalances."""
        write_rate = self.logs[0].write_rate
        for number in range(self.partitions, self.partitions + count):
            self.logs.append(Log(number % 3 + 1, write_rate, end=0))
        self.partitions += count
        self._write_topic()
        for number in range(self.partitions - count, self.partitions):
            self.write_state(number)
        for readers in self.groups.values():
            readers.rebalance()

    def crash_broker(self, broker_id: int) -> None:
        """A broker dies: what it led has no leader, for nobody else has a copy."""
        for log in self.logs:
            log.is_led &= log.leader != broker_id
        self.later(6, lambda sim: sim._lose_broker(broker_id))

    def start_broker(self, broker_id: int) -> None:
        """It is back, and leads what it led."""
        self.brokers.add(broker_id)
        self._register(broker_id)
        for number, log in enumerate(self.logs):
            if log.leader == broker_id:
                log.is_led = True
                self.write_state(number)

    def move_leader(self, number: int, broker_id: int) -> None:
        """An election moves a leader; readers hardly notice."""
        self.logs[number].leader = broker_id
        self.write_state(number)

    def configure(self, key: str, value: str) -> None:
        """Somebody changes a config of the topic."""
        path = f"/config/topics/{TOPIC}"
        self.write("topic_config", path, {"version": 1, "config": {key: value}})

    # What is seen of it.

    def sample(self, *, is_base: bool = False) -> None:
        """A sampling round: partitions that changed, and who answered."""
        entries = []
        for number, log in enumerate(self.logs):
            if log.is_led and (is_base or self._listed.get(number) != int(log.end)):
                self._listed[number] = int(log.end)
                entries.append(LogEnd(TOPIC, number, log.leader, 0, int(log.end)))
            elif not log.is_led:
                entries.append(LogEnd(TOPIC, number, log.leader, error="LEADER_NOT_AVAILABLE"))
                self._listed.pop(number, None)
        away = tuple(BrokerFailure(b, "no answer") for b in sorted({1, 2, 3} - self.brokers))
        ended = Round(
            len(self.events) - 1,
            brokers_answered=tuple(sorted(self.brokers)),
            brokers_failed=away,
            is_base=is_base,
        )
        self.say("log_ends", log_ends=LogEnds(tuple(entries), ended))

    def say(self, op: Op, **fields: Any) -> None:
        """One record."""
        event = Event("c", "log-1", len(self.events), op, self.now_ms, **fields)
        self.events.append(event)

    def write(self, kind: str, path: str, value: object) -> None:
        """A persistent znode is created, or set if it is there."""
        self.put("set" if path in self._versions else "create", kind, path, value)

    def put(self, op: Op, kind: str, path: str, value: object, session: int = 0) -> None:
        """A znode is created or set."""
        self.zxid += 1
        if op == "create":
            self._versions[path], self._born[path] = 0, self.zxid
        else:
            self._versions[path] += 1
        stat = Stat(
            czxid=self._born[path],
            mzxid=self.zxid,
            ctime=self.now_ms,
            mtime=self.now_ms,
            version=self._versions[path],
            ephemeral_owner=session,
        )
        data = value if isinstance(value, str) else json.dumps(value)
        known = {"path": path, "kind": kind, "data": data, "stat": stat, "zxid": self.zxid}
        self.say(op, origin="watch", **known)

    def drop(self, kind: str, path: str, zxid: int | None = None) -> None:
        """A znode is deleted; all of one session at one zxid."""
        if zxid is None:
            self.zxid += 1
        self.say("delete", origin="watch", path=path, kind=kind, zxid=zxid or self.zxid)

    def write_state(self, number: int) -> None:
        """A partition's state znode."""
        log = self.logs[number]
        leader = log.leader if log.is_led else -1
        value: dict[str, Any] = {"controller_epoch": 1, "leader": leader, "version": 1}
        path = f"/brokers/topics/{TOPIC}/partitions/{number}/state"
        epoch = self._versions.get(path, -1) + 1
        value |= {"leader_epoch": epoch, "isr": [log.leader]}
        self.write("partition_state", path, value)

    def _register(self, broker_id: int) -> None:
        self.zxid += 1
        path = f"/brokers/ids/{broker_id}"
        value = {"version": 4, "host": f"k{broker_id}", "port": 9092, "jmx_port": -1}
        value |= {"endpoints": [f"PLAINTEXT://k{broker_id}:9092"], "timestamp": str(self.now_ms)}
        value |= {"listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"}}
        self.put("create", "broker", path, value, session=self.zxid)

    def _lose_broker(self, broker_id: int) -> None:
        self.brokers.discard(broker_id)
        self.drop("broker", f"/brokers/ids/{broker_id}")
        for number, log in enumerate(self.logs):
            if log.leader == broker_id:
                self.write_state(number)

    def _write_topic(self) -> None:
        replicas = {str(n): [log.leader] for n, log in enumerate(self.logs)}
        self.write("topic", f"/brokers/topics/{TOPIC}", {"version": 1, "partitions": replicas})
