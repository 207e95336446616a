"""One consumer in this process, on a real cluster: what it watches, where it reads on."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from lab.cluster import Cluster
from lab.zookeeper_consumer import legacy
from lab.zookeeper_consumer.consumer import ZooKeeperConsumer
from lab.zookeeper_consumer.group import read_members, read_offsets, read_owners
from lab.zookeeper_consumer.options import ConsumerOptions
from lab.zookeeper_consumer.producing import find_bootstrap, produce
from lab.zookeeper_consumer.reports import Report
from lab.zookeeper_consumer.session import closing_client
from lab.zookeeper_consumer.subscription import build_subscription
from tests.lab.zookeeper_consumer.waiting import wait_for
from tests.proxy import Proxy
from zklake.errors import LabError, ZooKeeperError
from zklake.events.payloads.broker import decode_broker
from zklake.events.payloads.consumer import decode_consumer

pytestmark = pytest.mark.integration


@pytest.fixture
def name() -> str:
    return f"n{uuid.uuid4().hex[:8]}"


@pytest.fixture
def zk(cluster: Cluster) -> Iterator[Any]:
    with closing_client(cluster.zookeeper_connect) as client:
        yield client


class Running:
    """A consumer on a thread, and what it reported."""

    def __init__(self, options: ConsumerOptions) -> None:
        self.reports: list[Report] = []
        self.consumer = ZooKeeperConsumer(options, self.reports.append)
        self.thread = Thread(target=self.consumer.run)

    def find(self, event: str) -> list[dict[str, Any]]:
        return [report.details for report in list(self.reports) if report.event == event]

    def owns(self) -> dict[str, list[int]]:
        said = self.find("owns")
        return said[-1]["partitions"] if said else {}


@contextmanager
def run(zookeeper: str, group: str, **options: Any) -> Iterator[Running]:
    settings = {"messages": True, "session_timeout_ms": 4_000, "auto_commit_ms": 200, **options}
    running = Running(ConsumerOptions(zookeeper, group, **settings))
    running.thread.start()
    try:
        yield running
    finally:
        running.consumer.ask_to_stop()
        running.thread.join(30)
        assert not running.thread.is_alive()
    assert running.reports[-1].event == "stopped"


def test_reads_on_where_the_group_stood(cluster: Cluster, zk: Any, name: str) -> None:
    cluster.create_topic(name, 2)
    topics = build_subscription([name])
    assert produce(cluster.bootstrap, name, 20) == 20
    with run(cluster.zookeeper_connect, name, subscription=topics) as first:
        wait_for("twenty messages", lambda: len(first.find("message")) == 20)
    # The final commit: nothing is left to the next one.
    assert sum(read_offsets(zk, name, name).values()) == 20
    produce(cluster.bootstrap, name, 5, first=20)
    with run(cluster.zookeeper_connect, name, subscription=topics, commits=False) as second:
        wait_for("five more", lambda: len(second.find("message")) == 5)
        assert read_owners(zk, name, name).keys() == {0, 1}
    # It owned and read, and never wrote.
    assert sum(read_offsets(zk, name, name).values()) == 20
    assert not second.find("committed")
    assert read_members(zk, name) == {}


def test_a_group_without_offsets_begins_where_it_is_told(
    cluster: Cluster, zk: Any, name: str
) -> None:
    cluster.create_topic(name, 1)
    produce(cluster.bootstrap, name, 7)
    topics = build_subscription([name])
    with run(cluster.zookeeper_connect, name, subscription=topics, reset="largest") as running:
        # Written before any message: the place where it begins.
        wait_for("a commit", lambda: read_offsets(zk, name, name) == {0: 7})
        produce(cluster.bootstrap, name, 1)
        wait_for("one message", lambda: len(running.find("message")) == 1)
    assert running.find("message")[0]["offset"] == 7


def test_a_pattern_takes_in_new_topics_and_new_partitions(
    cluster: Cluster, zk: Any, name: str
) -> None:
    cluster.create_topic(f"{name}.a", 1)
    wanted = build_subscription(whitelist=rf"{name}\.[ab]", streams=2)
    with run(cluster.zookeeper_connect, name, subscription=wanted) as running:
        wait_for("the first topic", lambda: running.owns() == {f"{name}.a": [0]})
        cluster.create_topic(f"{name}.b", 2)
        cluster.create_topic(f"{name}.c", 2)
        wait_for("the second", lambda: running.owns() == {f"{name}.a": [0], f"{name}.b": [0, 1]})
        member = running.consumer.member_id
        assert read_owners(zk, name, f"{name}.b") == {0: f"{member}-0", 1: f"{member}-1"}
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_partitions([NewPartitions(f"{name}.a", 3)])[f"{name}.a"].result(30)
        wait_for("new partitions", lambda: running.owns().get(f"{name}.a") == [0, 1, 2])
        stored = read_members(zk, name)[member]
    assert (stored.pattern, stored.subscription) == ("white_list", {rf"{name}\.[ab]": 2})


def test_a_lost_connection_is_no_reason_but_what_it_hid_is(
    cluster: Cluster, zk: Any, name: str
) -> None:
    cluster.create_topic(name, 2)
    topics = build_subscription([name])
    with Proxy(cluster.zookeeper.servers[0].port) as proxy:
        # The proxied session must outlive the cut.
        options = {"subscription": topics, "session_timeout_ms": 10_000, "member_suffix": "a"}
        with run(proxy.address, name, **options) as running:
            wait_for("its partitions", lambda: running.owns() == {name: [0, 1]})
            proxy.cut()
            wait_for("a new connection", lambda: proxy.accepted == 2)
            produce(cluster.bootstrap, name, 1)
            wait_for("a commit after it", lambda: 1 in read_offsets(zk, name, name).values())
            assert len(running.find("rebalancing")) == 1
            proxy.refuse()
            proxy.cut()
            legacy.register_static(zk, name, f"{name}_b", {name: 1})
            proxy.refuse(False)
            wait_for("half of it", lambda: running.owns() == {name: [0]})
            assert not running.find("expired")
            assert running.find("rebalancing")[-1]["why"] == "missed"


def test_without_brokers_it_waits_for_one(cluster: Cluster, zk: Any, name: str) -> None:
    cluster.create_topic(name, 1)
    produce(cluster.bootstrap, name, 3)
    zk.create(f"/{name}")
    chroot = f"{cluster.zookeeper_connect}/{name}"
    with closing_client(chroot) as empty:
        with pytest.raises(LabError, match="no broker is registered"):
            find_bootstrap(chroot)
        topic = json.dumps({"version": 1, "partitions": {"0": [0]}}).encode()
        empty.create(f"/brokers/topics/{name}", topic, makepath=True)
        with run(chroot, name, subscription=build_subscription([name])) as running:
            wait_for("its patience", lambda: len(running.find("no_brokers")) == 1)
            host, port = cluster.bootstrap.split(":")
            legacy.register_broker(empty, 0, host, int(port), 1794793246657)
            wait_for("three messages", lambda: len(running.find("message")) == 3)


def test_an_id_in_use_is_refused(cluster: Cluster, zk: Any, name: str) -> None:
    legacy.register_wildcard(zk, name, f"{name}_a", ".*", 2)
    options = ConsumerOptions(
        cluster.zookeeper_connect, name, build_subscription(["t"]), member_suffix="a"
    )
    with pytest.raises(ZooKeeperError, match="belongs to another session"):
        ZooKeeperConsumer(options, lambda report: None).run()


def test_the_legacy_shapes_are_those_of_0_7(cluster: Cluster, zk: Any, name: str) -> None:
    zk.create(f"/{name}")
    with closing_client(f"{cluster.zookeeper_connect}/{name}") as old:
        legacy.register_broker(old, 5, "10.0.0.5", 9092, 1315436360737)
        legacy.register_topic(old, 5, "orders", 4)
        legacy.register_static(old, "g", "g_a", {"orders": 2})
        legacy.register_wildcard(old, "g", "g_b", "tmp.*", 2, allow=False)
        legacy.register_wildcard(old, "g", "g_c", "ord.*", 2)
        legacy.write_owner(old, "g", "orders", 5, 3, thread_id="g_a-0")
        legacy.write_offset(old, "g", "orders", 5, 3, position=100)
        legacy.write_offset(old, "g", "orders", 5, 3, position=4096)
        data = {
            path: old.get(path)[0]
            for path in (
                "/brokers/ids/5",
                "/brokers/topics/orders/5",
                "/consumers/g/ids/g_a",
                "/consumers/g/ids/g_b",
                "/consumers/g/ids/g_c",
                "/consumers/g/owners/orders/5-3",
                "/consumers/g/offsets/orders/5-3",
            )
        }
        # Neither is a partition of ours.
        assert read_owners(old, "g", "orders") == {}
        assert read_offsets(old, "g", "orders") == {}
        patterns = {member: found.pattern for member, found in read_members(old, "g").items()}
    assert list(data.values()) == [
        b"10.0.0.5-1315436360737:10.0.0.5:9092",
        b"4",
        b'{ "orders": 2 }',
        b"!2!tmp.*",
        b"*2*ord.*",
        b"g_a-0",
        b"4096",
    ]
    assert patterns == {"g_a": "static", "g_b": "black_list", "g_c": "white_list"}
    assert decode_broker(data["/brokers/ids/5"]).port == 9092  # type: ignore[union-attr]
    assert decode_consumer(data["/consumers/g/ids/g_a"]).subscription == {  # type: ignore[union-attr]
        "orders": 2
    }


def test_produce_says_how_many(cluster: Cluster, name: str) -> None:
    cluster.create_topic(name, 1)
    command = ["lab", "produce", "--topic", name, "--count", "30", "--rate", "100"]
    done = subprocess.run(
        [sys.executable, "-m", "zklake", *command, "--zookeeper", cluster.zookeeper_connect],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"30 messages sent to {name}\n"), done.stderr
    with pytest.raises(LabError, match="refused messages after 0"):
        produce(cluster.bootstrap, f"{name}-missing", 1)
