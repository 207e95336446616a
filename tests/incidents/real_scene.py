"""One incident on real servers: a topic and a group of its own, producers, and what goes wrong.

Old consumers are processes: they are killed, stopped for a while (SIGSTOP), given little time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from threading import Event, Thread

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewTopic

from lab.cluster import Cluster
from lab.kafka_consumer import KafkaMember
from lab.zookeeper_consumer.process import ConsumerProcess

PARTITIONS = 4
# Records a second: of a partition, and what a member reads at most.
WRITE_RATE, READ_RATE = 10.0, 80.0
SESSION_MS = 60_000
_TICK_S = 0.1
# A machine that stood still is no burst.
_MOST_S = 0.5


class Traffic(Thread):
    """Producers of all scenes; each partition has a rate, which may change."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.rates: dict[tuple[str, int], float] = {}
        self.errors: list[str] = []
        self._is_over = Event()
        # What cannot be written while a leader is away is written when it is back.
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "message.timeout.ms": 300_000, "log_level": 2}
        )

    def run(self) -> None:
        """Write until stopped."""
        due: dict[tuple[str, int], float] = {}
        last = time.monotonic()
        while not self._is_over.wait(_TICK_S):
            now = time.monotonic()
            for place, rate in list(self.rates.items()):
                due[place] = due.get(place, 0.0) + rate * min(now - last, _MOST_S)
                for _ in range(int(due[place])):
                    self._write(*place)
                due[place] %= 1.0
            self._producer.poll(0)
            last = now

    def stop(self) -> None:
        """Write no more."""
        self._is_over.set()
        self.join()

    def _write(self, topic: str, partition: int) -> None:
        self._producer.produce(topic, b"x" * 20, partition=partition, on_delivery=self._note)

    def _note(self, error: object, message: object) -> None:
        if error is not None:
            self.errors.append(str(error))


class Scene:
    """A topic led by the given brokers, two members that read it, and its traffic."""

    def __init__(
        self,
        cluster: Cluster,
        traffic: Traffic,
        name: str,
        leaders: Sequence[int],
        *,
        old: bool = True,
        read_rate: float = READ_RATE,
    ) -> None:
        self.cluster, self.traffic, self.stack = cluster, traffic, ExitStack()
        self.topic, self.group, self.is_old = f"{name}-orders", f"{name}-readers", old
        self.read_rate = read_rate
        self.members: dict[str, ConsumerProcess] = {}
        self.kafka_members: dict[str, KafkaMember] = {}
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 2})
        placement = [[leaders[number % len(leaders)]] for number in range(PARTITIONS)]
        wanted = NewTopic(self.topic, PARTITIONS, replica_assignment=placement)
        self._admin.create_topics([wanted])[self.topic].result(60)
        self.produce(WRITE_RATE)
        for member in ("a", "b"):
            self.join(member)

    def join(self, name: str) -> None:
        """A member comes."""
        if not self.is_old:
            new = KafkaMember(self.cluster.bootstrap, self.group, name, self.topic)
            self.kafka_members[name] = self.stack.enter_context(new)
            return
        old = ConsumerProcess(
            self.cluster.zookeeper_connect,
            self.group,
            topics=[self.topic],
            member_suffix=name,
            session_timeout_ms=SESSION_MS,
            auto_commit_ms=2_000,
            rate=self.read_rate,
        )
        self.members[name] = old
        self.stack.callback(old.close)
        old.start(120)

    def produce(self, rate: float, *partitions: int) -> None:
        """From now on, to some partitions or to all."""
        for number in partitions or range(PARTITIONS):
            self.traffic.rates[self.topic, number] = rate

    def configure(self, key: str, value: str) -> None:
        """Somebody changes a setting of the topic."""
        entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(
            ConfigResource.Type.TOPIC, self.topic, incremental_configs=[entry]
        )
        # The controller may be the broker that has just died.
        asked = self._admin.incremental_alter_configs([resource], request_timeout=120)
        asked[resource].result(120)

    def throttle(self, name: str, seconds: float) -> None:
        """It runs for one second in six: what it may read in a second is not saved up."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.members[name].pause()
            time.sleep(5.0)
            self.members[name].resume()
            time.sleep(1.0)

    def close(self) -> None:
        """End its members."""
        self.stack.close()


Act = Callable[[Scene], None]


def play(scenes: Sequence[tuple[Scene, Sequence[tuple[float, Act]]]], seconds: float) -> None:
    """Each act at its second, all scenes side by side; returns after so many."""
    began, threads, failed = time.monotonic(), list[Thread](), list[BaseException]()

    def perform(scene: Scene, act: Act) -> None:
        try:
            act(scene)
        except BaseException as error:
            failed.append(error)

    due = sorted(
        (
            (at, number, scene, act)
            for scene, acts in scenes
            for number, (at, act) in enumerate(acts)
        ),
        key=lambda one: one[:2],
    )
    for at, _, scene, act in due:
        time.sleep(max(0.0, began + at - time.monotonic()))
        threads.append(Thread(target=perform, args=(scene, act), daemon=True))
        threads[-1].start()
    time.sleep(max(0.0, began + seconds - time.monotonic()))
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
