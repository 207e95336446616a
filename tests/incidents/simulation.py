"""A small cluster in simulated time, and what a watcher and a sampler would publish of it.

Producers write and old consumers read, record by record and second by second; members commit at
their own interval, crash, stop, get stuck; brokers go and come. Only what ZooKeeper and the brokers
would show becomes an event, so a fold knows no more of it than it would of a real cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zklake.events.envelope import Event, Frame, Gap, Op, Stat
from zklake.events.samples import BrokerFailure, LogEnd, LogEnds, Round

# A whole hour, so that minutes are easy to read.
BIRTH_MS = 1_794_795_600_000
ROUND_S = 10
GROUP, TOPIC = "readers", "orders"
Act = Callable[["Simulation"], None]


@dataclass
class Log:
    """A partition: how far it is written and read, and by whom it can be."""

    leader: int
    write_rate: float
    end: float = 10_000
    position: float = 10_000
    committed: int = 10_000
    # What producers could not write while there was no leader.
    held_back: float = 0
    is_led: bool = True


@dataclass
class Member:
    """An old consumer, with one thread."""

    name: str
    read_rate: float
    session: int
    is_alive: bool = True
    is_stuck: bool = False
    commits_at: int = 0


@dataclass
class Simulation:
    """One topic, one group; `partitions` logs led by brokers 1, 2, 3 in turn."""

    partitions: int = 4
    write_rate: float = 10
    read_rate: float = 15
    commit_s: int = 10
    session_s: int = 20
    names: tuple[str, ...] = ("a", "b")
    events: list[Event] = field(default_factory=list)
    now_ms: int = BIRTH_MS

    def __post_init__(self) -> None:
        self.logs = [Log(n % 3 + 1, self.write_rate) for n in range(self.partitions)]
        self.members: dict[str, Member] = {}
        self.owners: dict[int, str] = {}
        self.brokers = {1, 2, 3}
        self.zxid, self._versions, self._born = 1000, dict[str, int](), dict[str, int]()
        self._acts: list[tuple[int, Act]] = []
        self._listed = dict[int, int]()

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
        self._acts.append(((self.now_ms - BIRTH_MS) // 1000 + seconds, act))

    def _begin(self) -> None:
        self.say("gap", path="/", gap=Gap("first", "first_start"))
        self.say("frame_begin", path="/", frame=Frame("f"))
        for broker_id in sorted(self.brokers):
            self._register(broker_id)
        replicas = {str(n): [log.leader] for n, log in enumerate(self.logs)}
        value = {"version": 1, "partitions": replicas}
        self.put("create", "topic", f"/brokers/topics/{TOPIC}", value)
        for number in range(self.partitions):
            self.write_state(number)
        for number, log in enumerate(self.logs):
            self._write_offset(number, log.committed)
        self.say("in_sync", path="/", frame=Frame("f", "none"))
        for name in self.names:
            self.join(name)
        self.sample(is_base=True)

    def _pass_second(self, second: int) -> None:
        for number, log in enumerate(self.logs):
            if log.is_led:
                log.end += log.write_rate + log.held_back
                log.held_back = 0
                self._read(number, log)
            else:
                log.held_back += log.write_rate
        for member in self.members.values():
            if member.is_alive and not member.is_stuck and second >= member.commits_at:
                self._commit(member)
                member.commits_at = second + self.commit_s

    def _read(self, number: int, log: Log) -> None:
        member = self.members.get(self.owners.get(number, ""))
        if member is not None and member.is_alive and not member.is_stuck:
            log.position = min(log.end, log.position + member.read_rate)

    def _commit(self, member: Member) -> None:
        for number, log in enumerate(self.logs):
            if self.owners.get(number) == member.name and int(log.position) != log.committed:
                log.committed = int(log.position)
                self._write_offset(number, log.committed)

    # What people and machines do.

    def join(self, name: str, read_rate: float | None = None) -> None:
        """A member comes, and the group divides its partitions anew."""
        self.zxid += 1
        rate = self.read_rate if read_rate is None else read_rate
        member = Member(name, rate, session=self.zxid)
        second = (self.now_ms - BIRTH_MS) // 1000
        member.commits_at = second + 1 + len(self.members) % 5
        self.members[name] = member
        value = {"version": 1, "subscription": {TOPIC: 1}, "pattern": "static"}
        path = f"/consumers/{GROUP}/ids/{self._name(name)}"
        self.put("create", "consumer", path, value, session=member.session)
        self.rebalance()

    def stop(self, name: str) -> None:
        """A clean stop: it commits, then closes its session."""
        self._commit(self.members[name])
        self._end_session(name)

    def kill(self, name: str) -> None:
        """kill -9: it reads and commits no more; its session ends when its time is out."""
        self.members[name].is_alive = False
        self.later(self.session_s, lambda sim: sim._end_session(name))

    def stick(self, name: str, *, is_stuck: bool = True) -> None:
        """Its thread hangs; its session lives."""
        self.members[name].is_stuck = is_stuck

    def slow(self, name: str, read_rate: float) -> None:
        """It reads at another pace from now on."""
        self.members[name].read_rate = read_rate

    def produce(self, write_rate: float, *numbers: int) -> None:
        """Producers write at another pace, to some partitions or all."""
        for number in numbers or range(self.partitions):
            self.logs[number].write_rate = write_rate

    def rewind(self, number: int, records: int) -> None:
        """Somebody sets an offset back, and the owner goes on from there."""
        log = self.logs[number]
        log.committed = max(0, log.committed - records)
        log.position = log.committed
        self._write_offset(number, log.committed)

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
        op: Op = "set" if path in self._versions else "create"
        self.put(op, "topic_config", path, {"version": 1, "config": {key: value}})

    def rebalance(self) -> None:
        """All let go and claim by Kafka's range formula; it takes a fifth of a second."""
        for number in sorted(self.owners):
            self._release(number)
        names = sorted(name for name in self.members)
        each, more = divmod(self.partitions, max(len(names), 1))
        first = 0
        for place, name in enumerate(names):
            count = each + (place < more)
            for number in range(first, first + count):
                self._claim(number, name)
            first += count

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
        op: Op = "set" if path in self._versions else "create"
        epoch = self._versions.get(path, -1) + 1
        value |= {"leader_epoch": epoch, "isr": [log.leader]}
        self.put(op, "partition_state", path, value)

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

    def _write_offset(self, number: int, offset: int) -> None:
        path = f"/consumers/{GROUP}/offsets/{TOPIC}/{number}"
        op: Op = "set" if path in self._versions else "create"
        self.put(op, "offset", path, str(offset))

    def _name(self, name: str) -> str:
        return f"{GROUP}_{name}"

    def _end_session(self, name: str) -> None:
        if self.members.pop(name, None) is None:
            return
        self.zxid += 1
        self.drop("consumer", f"/consumers/{GROUP}/ids/{self._name(name)}", self.zxid)
        for number in [n for n, owner in self.owners.items() if owner == name]:
            del self.owners[number]
            self.drop("owner", f"/consumers/{GROUP}/owners/{TOPIC}/{number}", self.zxid)
        self.now_ms += 50
        self.rebalance()

    def _release(self, number: int) -> None:
        member = self.members.get(self.owners.pop(number))
        if member is not None and member.is_alive and not member.is_stuck:
            self._commit_one(number)
        self.drop("owner", f"/consumers/{GROUP}/owners/{TOPIC}/{number}")
        self.now_ms += 5

    def _commit_one(self, number: int) -> None:
        log = self.logs[number]
        if int(log.position) != log.committed:
            log.committed = int(log.position)
            self._write_offset(number, log.committed)

    def _claim(self, number: int, name: str) -> None:
        self.now_ms += 40
        self.owners[number] = name
        # A new owner begins at what is committed.
        self.logs[number].position = self.logs[number].committed
        path = f"/consumers/{GROUP}/owners/{TOPIC}/{number}"
        self.put("create", "owner", path, f"{self._name(name)}-0", self.members[name].session)
