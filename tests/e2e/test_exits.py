"""How members and brokers of a real cluster left: in order, or by kill -9; with traffic all along.

What must be said of a stop is known by ZooKeeper's own log: how long before its end a member
committed. A machine may be too busy for a quick one, so members stop until one was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka.admin import AdminClient

from delta_tables.reading import read_rows
from lab.cluster import Cluster
from lab.stories import BROKER_SETTINGS
from lab.zookeeper_consumer.process import ConsumerProcess
from lab.zookeeper_consumer.session import closing_client
from tests.incidents.folded import fold_lake
from tests.incidents.real_scene import Traffic
from tests.reference.tree import Change, fold
from tests.reference.txnlog import read_dir
from tests.watcher.watching import LogTail, WatcherProcess, catch_up, wait_for
from zklake.events.envelope import Event

pytestmark = [pytest.mark.e2e, pytest.mark.integration, pytest.mark.timeout(600)]

Row = dict[str, Any]
TOPIC, GROUP = "orders", "readers"
_OFFSETS = f"/consumers/{GROUP}/offsets/{TOPIC}"
# Docs: a commit in its last second is a clean stop's.
_LAST_DEED_MS = 1_000
_MOST_STOPS = 10
_SAMPLING = {"ZKLAKE_WATCHER__SAMPLING": "true", "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": "1"}


class Scene:
    """Two brokers, a topic that both hold, records that come all the time; watched."""

    def __init__(self, watched: Cluster, log: Cluster, path: Path, stack: ExitStack) -> None:
        self.cluster, self._path = watched, path
        self._watcher = stack.enter_context(
            WatcherProcess(*(watched.zookeeper_connect, log.bootstrap, path), environ=_SAMPLING)
        )
        self.name = self._watcher.cluster
        self._tail = stack.enter_context(closing(LogTail(log.bootstrap, self.name)))
        catch_up(self._watcher, self._tail)
        watched.create_topic(TOPIC, 2, 2)
        self.traffic = Traffic(watched.bootstrap)
        self.traffic.rates = dict.fromkeys(((TOPIC, 0), (TOPIC, 1)), 20.0)
        self.traffic.start()
        stack.callback(self.traffic.stop)
        self.zookeeper = stack.enter_context(closing_client(watched.zookeeper_connect))

    def join(self, name: str) -> ConsumerProcess:
        """A member that has come and reads on."""
        member = ConsumerProcess(
            self.cluster.zookeeper_connect, GROUP, topics=[TOPIC], member_suffix=name
        )
        member.start(120)
        began = self._read_offset()
        wait_for("commits", lambda: self._read_offset() > began + 40)
        return member

    def wait_until_gone(self, path: str) -> None:
        """Its session has ended."""
        wait_for(f"the end of {path}", lambda: not self.zookeeper.exists(path))

    def wait_for_isr(self) -> None:
        """Every broker is in every ISR."""
        admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap, "log_level": 2})
        wait_for("all replicas in sync", lambda: _count_isr(admin) == 4)

    def read_log(self) -> list[Event]:
        """All that the watcher told so far."""
        catch_up(self._watcher, self._tail)
        return [msgspec.convert(event, Event) for event in self._tail.poll()]

    def ask(self, table: str, key: str, number: int) -> list[Row]:
        """The rows that have ended, of a lake made anew."""
        lake = fold_lake(self._path / f"lake-{number}", self.read_log())
        query = f"SELECT {key}, exit, exit_evidence FROM {table} WHERE NOT is_open"
        return read_rows(lake, self.name, f"{query} ORDER BY valid_from_seq")

    def _read_offset(self) -> int:
        path = f"{_OFFSETS}/0"
        return int(self.zookeeper.get(path)[0]) if self.zookeeper.exists(path) else 0


def _count_isr(admin: AdminClient) -> int:
    partitions = admin.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions.values()
    return sum(len(partition.isrs) for partition in partitions)


@pytest.fixture
def scene(cluster: Cluster, tmp_path: Path) -> Iterator[Scene]:
    with Cluster(2, settings=BROKER_SETTINGS) as watched, ExitStack() as stack:
        yield Scene(watched, cluster, tmp_path, stack)


def test_members_that_stop_and_one_that_is_killed(scene: Scene) -> None:
    wanted: dict[str, str] = {}
    for number in range(_MOST_STOPS):
        member = scene.join(f"m{number}")
        member.stop(60)
        registration = f"/consumers/{GROUP}/ids/{member.member_id}"
        scene.wait_until_gone(registration)
        if is_quick(scene, registration):
            wanted[member.member_id] = "clean"
            break
        wanted[member.member_id] = "any"
    killed = scene.join("killed")
    killed.kill()
    scene.wait_until_gone(f"/consumers/{GROUP}/ids/{killed.member_id}")
    wanted[killed.member_id] = "crashed"
    rows = scene.ask("consumer_membership", "member_id", 0)
    print(rows)
    assert [row["member_id"] for row in rows] == [*wanted]
    assert "clean" in wanted.values(), "no stop was quick enough"
    for row in rows:
        assert wanted[row["member_id"]] in (row["exit"], "any")
    assert "before" in rows[-2]["exit_evidence"]
    assert "waited" in rows[-1]["exit_evidence"]


def is_quick(scene: Scene, registration: str) -> bool:
    """Whether it committed in its last second, and the watcher saw its end no later than that."""
    (data_dir,) = (server.data_dir for server in scene.cluster.zookeeper.servers)
    changes = fold(read_dir(data_dir))[0]
    end = _find_last(changes, ("delete",), registration)
    # The first commit of all creates its znode.
    commit = _find_last(changes, ("create", "set"), _OFFSETS)
    (seen,) = [e for e in scene.read_log() if e.path == registration and e.op == "delete"]
    return end.session_close and seen.observed_at_ms - commit.time_ms <= _LAST_DEED_MS


def _find_last(changes: list[Change], ops: Sequence[str], below: str) -> Change:
    return [one for one in changes if one.op in ops and one.path.startswith(below)][-1]


def test_a_broker_that_shuts_down_in_order_and_one_that_is_killed(scene: Scene) -> None:
    scene.wait_for_isr()
    broker = scene.cluster.brokers[1]
    broker.stop(120)
    scene.wait_until_gone("/brokers/ids/1")
    broker.start(120)
    scene.wait_for_isr()
    broker.kill()
    scene.wait_until_gone("/brokers/ids/1")
    rows = scene.ask("broker_membership", "broker_id", 0)
    print(rows)
    assert [(row["broker_id"], row["exit"]) for row in rows] == [(1, "clean"), (1, "crashed")]
