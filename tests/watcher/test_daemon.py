"""The daemon as a process: what it prints, serves, withholds, and how it ends."""

from __future__ import annotations

import base64
import json
import random
import re
import subprocess
import sys
import time
import urllib.request
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from kazoo.client import KazooClient
from kazoo.security import make_acl, make_digest_acl
from prometheus_client.parser import text_string_to_metric_families

from tests.watcher.watching import LogTail, WatcherProcess, catch_up, wait_for
from watcher.metrics import WatcherMetrics

if TYPE_CHECKING:
    from lab.cluster import Cluster
    from lab.zookeeper import ZooKeeperServer

pytestmark = pytest.mark.integration


@pytest.fixture
def client(zookeeper: ZooKeeperServer, chroot: str) -> Iterator[Any]:
    client = KazooClient(zookeeper.address + chroot)
    client.start()
    yield client
    client.stop()
    client.close()


def fetch(watcher: WatcherProcess, path: str) -> str:
    (address,) = re.findall(r'"http": "([^"]+)"', watcher.log_file.read_text())
    with urllib.request.urlopen(f"http://{address}{path}", timeout=60) as answer:
        return str(answer.read().decode())


def test_ready_metrics_and_a_clean_end(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, client: Any, tmp_path: Path
) -> None:
    client.create("/brokers/ids/1", b'{"version":1}', makepath=True)
    with WatcherProcess(zookeeper.address + chroot, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        catch_up(watcher, tail)
        wait_for("ready", lambda: "in sync" in watcher.log_file.read_text())
        assert fetch(watcher, "/healthz") == "alive\n"
        time.sleep(1.5)
        assert fetch(watcher, "/readyz") == "ready\n"
        families = {f.name: f for f in text_string_to_metric_families(fetch(watcher, "/metrics"))}
        assert {
            name.removesuffix("_total") for name in WatcherMetrics.list_names()
        } <= families.keys()
        assert families["zklake_watcher_in_sync"].samples[0].value == 1
        assert families["zklake_watcher_audit_differences"].samples[0].value == 0
        watcher.process.stop(timeout_s=60)
        assert watcher.process.exit_code == 0
        events = tail.read_all()
        tail.close()
    assert [e["op"] for e in events if e["op"] != "heartbeat"][-1] == "gap"
    assert events[-1]["gap"]["reason"] == "restart"
    assert sum(e["op"] == "heartbeat" for e in events) >= 2


def test_once_publishes_the_difference_and_dry_run_writes_nothing(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, client: Any
) -> None:
    client.create("/brokers/ids/1", b'{"version":1}', makepath=True)
    name = f"w{uuid.uuid4().hex[:10]}"
    watch = [sys.executable, "-m", "zklake", "watch", "--cluster", name, "--once", "--take-over"]
    watch += ["--zookeeper", zookeeper.address + chroot, "--log", cluster.bootstrap]
    dry = subprocess.run(
        [*watch, "--dry-run"], capture_output=True, text=True, timeout=60, check=False
    )
    assert dry.returncode == 0, dry.stderr
    printed = [json.loads(line) for line in dry.stdout.splitlines()]
    assert {e["path"] for e in printed if e["op"] == "read"} >= {"/", "/brokers/ids/1"}
    assert printed[-1]["op"] in ("in_sync", "heartbeat", "gap")
    admin_topics = _list_topics(cluster)
    assert f"zklake.{name}" not in admin_topics
    first = subprocess.run(watch, capture_output=True, text=True, timeout=60, check=False)
    assert first.returncode == 0, first.stderr
    client.set("/brokers/ids/1", b'{"version":2}')
    client.create("/brokers/ids/2", b'{"version":1}')
    second = subprocess.run(watch, capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode == 0, second.stderr
    tail = LogTail(cluster.bootstrap, name)
    events = tail.read_all()
    tail.close()
    changes = [(e["op"], e["path"]) for e in events if e.get("origin") == "resync"]
    assert sorted(changes) == [("create", "/brokers/ids/2"), ("set", "/brokers/ids/1")]


def _list_topics(cluster: Cluster) -> set[str]:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "tests"})
    topics = set(consumer.list_topics(timeout=10).topics)
    consumer.close()
    return topics


def test_canary_secrets_never_leave(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, client: Any, tmp_path: Path
) -> None:
    canary = f"CANARY{uuid.uuid4().hex}"
    scram = f"salt={canary},stored_key={canary},server_key={canary},iterations=4096"
    # Under names, and in forms, that no deny-list has them all of.
    forms = {
        "basic.auth.user.info": f"admin:{canary}",
        "some.settings": json.dumps({"password": canary}),
        "header": f"Bearer {canary}",
        "confluent.license": canary,
        "ldap.bind.pw": canary,
        "connection": f"Endpoint=sb://h/;SharedAccessKey={canary}",
        "mirror": f"https://{canary}@host/",
        "innocent": canary,
        "retention.ms": canary,
        "producer_byte_rate": canary,
    }
    places = ("topics/forms", "brokers/<default>", "clients/c", "users/bob", "ips/10.0.0.1")
    secrets: dict[str, dict[str, Any]] = {
        f"/config/{place}": {"version": 1, "config": forms} for place in places
    } | {
        "/config/users/alice": {"version": 1, "config": {"SCRAM-SHA-512": scram}},
        "/config/brokers/1": {"version": 1, "config": {"ssl.keystore.password": canary}},
        "/config/topics/t": {"version": 1, "config": {"sasl.jaas.config": f"password={canary}"}},
        f"/delegation_token/tokens/{canary}": {"version": 3, "tokenId": canary},
        f"/somebody/else/{canary[:6]}": {"password": canary},
    }
    with WatcherProcess(zookeeper.address + chroot, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        for path, value in secrets.items():
            client.create(path, json.dumps(value).encode(), makepath=True)
        client.create(
            "/delegation_token/token_changes/token_change_1", canary.encode(), makepath=True
        )
        for path in secrets:
            client.set(path, b"not json " + canary.encode())
        catch_up(watcher, tail)
        metrics = fetch(watcher, "/metrics")
        logs = watcher.log_file.read_text()
        tree = _read_topic(cluster, f"zklake.{watcher.cluster}.tree")
        events = tail.read_all()
        tail.close()
    assert canary not in metrics
    assert canary not in logs
    assert canary.encode() not in tree
    assert canary.encode() not in tail.raw
    redacted = [e for e in events if e.get("fidelity") == "redacted"]
    assert {e["path"] for e in redacted} >= {"/config/users/alice", "/config/brokers/1"}
    assert all(e["data_hash"] and e["stat"]["data_length"] for e in redacted)


def _read_topic(cluster: Cluster, topic: str) -> bytes:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "tests"})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    messages = consumer.consume(100_000, 3)
    consumer.close()
    assert messages
    return b"".join((m.key() or b"") + (m.value() or b"") for m in messages)


def test_large_and_binary_values(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, client: Any, tmp_path: Path
) -> None:
    # High bits set: nothing in it can look like the word "password" and be withheld for that.
    noise = bytes(byte | 0x80 for byte in random.Random(1).randbytes(1_000_000))
    values = {
        "/brokers/topics/large": b'{"version":1,"x":"' + b"ab" * 490_000 + b'"}',
        "/brokers/topics/noise": noise,
        "/brokers/topics/binary": b"\xff\x00\xfe",
    }
    with WatcherProcess(zookeeper.address + chroot, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        client.ensure_path("/brokers/topics")
        for path, value in values.items():
            client.create(path, value)
        catch_up(watcher, tail)
        told = {e["path"]: e for e in tail.read_all() if e.get("path") in values}
        tail.close()
    large = told["/brokers/topics/large"]
    assert zlib.decompress(base64.b64decode(large["data_zlib_b64"])) == values[large["path"]]
    oversize = told["/brokers/topics/noise"]
    assert oversize["fidelity"] == "oversize"
    assert oversize["stat"]["data_length"] == len(noise)
    assert len(oversize["data_hash"]) == 16
    binary = told["/brokers/topics/binary"]
    assert base64.b64decode(binary["data_b64"]) == values[binary["path"]]


def test_a_name_as_long_as_zookeeper_allows_does_not_stop_the_stream(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, client: Any, tmp_path: Path
) -> None:
    # As JSON twice as long: with its data no record could hold it.
    path = "/brokers/topics/" + '"' * 1_000_000
    client.ensure_path("/brokers/topics")
    client.create(path, b"{}")
    with WatcherProcess(zookeeper.address + chroot, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        wait_for("in sync", lambda: tail.find(op="in_sync"))
        client.set(path, b"{ }")
        catch_up(watcher, tail)
        watcher.process.kill()
        watcher.start()
        client.delete(path)
        catch_up(watcher, tail)
        told = [e for e in tail.read_all() if "...~" in e.get("path", "")]
        tail.close()
    assert [e["op"] for e in told] == ["read", "set", "delete"]
    assert len({e["path"] for e in told}) == 1
    assert {e.get("fidelity", "exact") for e in told[:2]} == {"oversize"}


def test_unreadable_is_said_once_and_heals(
    zookeeper: ZooKeeperServer, chroot: str, cluster: Cluster, client: Any, tmp_path: Path
) -> None:
    client.add_auth("digest", "owner:secret")
    sealed = [make_digest_acl("owner", "secret", all=True)]
    client.create("/config/users", b"", makepath=True)
    client.create("/config/users/alice", b"{}", acl=sealed)
    with WatcherProcess(zookeeper.address + chroot, cluster.bootstrap, tmp_path) as watcher:
        tail = LogTail(cluster.bootstrap, watcher.cluster)
        catch_up(watcher, tail)
        watcher.process.kill()
        watcher.start()
        catch_up(watcher, tail)
        watcher.process.kill()
        client.set_acls("/config/users/alice", [make_acl("world", "anyone", all=True)])
        watcher.start()
        catch_up(watcher, tail)
        of_alice = [e["op"] for e in tail.read_all() if e.get("path") == "/config/users/alice"]
        tail.close()
    assert of_alice == ["unreadable", "read"]
