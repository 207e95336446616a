"""What 0.7 left in a tree, written by the lab, watched and folded: from znodes to rows."""

from __future__ import annotations

import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from pyspark.sql import SparkSession

from delta_tables.reading import read_rows
from lab.cluster import Cluster
from lab.zookeeper_consumer import legacy
from lab.zookeeper_consumer.session import closing_client
from streaming.daemon import run_once
from streaming.query import Stream
from tests.watcher.watching import LogTail, WatcherProcess, catch_up
from zklake.events.topics import name_topics

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.integration,
    pytest.mark.spark,
    pytest.mark.timeout(900),
]


# The most that the server of the lab grants: a busy machine does not end these sessions.
_SESSION_MS = 10_000


@pytest.fixture
def tree(cluster: Cluster) -> str:
    """The connect string of a tree of 0.7's own, beside that of the cluster which keeps the log."""
    chroot = f"/old-{uuid.uuid4().hex[:8]}"
    with closing_client(cluster.zookeeper_connect) as client:
        client.create(chroot)
    return str(cluster.zookeeper_connect + chroot)


def write_old_tree(old: KazooClient, leaver: KazooClient) -> None:
    legacy.register_broker(old, 5, "10.0.0.5", 9092, 1315436360737)
    legacy.register_topic(old, 5, "orders", 4)
    legacy.register_static(old, "g", "g_a", {"orders": 2, "version": 1})
    legacy.register_wildcard(leaver, "g", "g_b", "tmp.*", 2, allow=False)
    legacy.register_wildcard(old, "g", "g_c", r"ord\..*", 3)
    legacy.write_owner(old, "g", "orders", 5, 3, thread_id="g_a-0")
    legacy.write_owner(leaver, "g", "orders", 5, 0, thread_id="g_b-1")
    legacy.write_offset(old, "g", "orders", 5, 3, position=4096)


def test_the_shapes_of_0_7_become_rows(
    cluster: Cluster, tree: str, spark: SparkSession, tmp_path: Path
) -> None:
    with WatcherProcess(tree, cluster.bootstrap, tmp_path) as watcher:
        name = watcher.cluster
        with closing(LogTail(cluster.bootstrap, name)) as tail:
            catch_up(watcher, tail)
            with closing_client(tree, _SESSION_MS) as old:
                with closing_client(tree, _SESSION_MS) as leaver:
                    write_old_tree(old, leaver)
                    # Before it goes: what is gone before it could be read is a row without values.
                    catch_up(watcher, tail)
                catch_up(watcher, tail)
                legacy.write_offset(old, "g", "orders", 5, 3, position=100)
                catch_up(watcher, tail)
                watcher.process.stop(30)
    lake = str(tmp_path / "lake")
    run_once(spark, Stream(cluster.bootstrap, name_topics(name).events, name, lake))

    def ask(query: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in read_rows(lake, name, query)]

    assert ask("SELECT reason FROM quarantine") == []
    assert ask(
        "SELECT broker_id, host, port, registration_version, is_open FROM broker_membership"
    ) == [(5, "10.0.0.5", 9092, 0, True)]
    # The topic's own znode is only a directory: that it is there, and no more, is its row.
    assert ask(
        "SELECT topic, broker_id, partition_count, is_open FROM topics ORDER BY valid_from_seq"
    ) == [("orders", None, None, True), ("orders", 5, 4, True)]
    check_members(ask)
    check_partitions(ask)


def check_members(ask: Any) -> None:
    rows = ask(
        "SELECT member_id, pattern, subscription, registration_version, is_open, ended_by "
        "FROM consumer_membership ORDER BY member_id"
    )
    assert [(member, pattern, dict(wanted), *rest) for member, pattern, wanted, *rest in rows] == [
        ("g_a", "static", {"orders": 2, "version": 1}, 0, True, None),
        ("g_b", "black_list", {"tmp.*": 2}, 0, False, "session_ended"),
        ("g_c", "white_list", {r"ord\..*": 3}, 0, True, None),
    ]


def check_partitions(ask: Any) -> None:
    assert ask(
        "SELECT topic, broker_id, partition, owner_member_id, owner_stream, is_open, ended_by "
        "FROM ownership_history ORDER BY partition"
    ) == [
        ("orders", 5, 0, "g_b", 1, False, "session_ended"),
        ("orders", 5, 3, "g_a", 0, True, None),
    ]
    assert ask(
        "SELECT topic, broker_id, partition, committed_offset, is_open "
        "FROM consumer_offsets ORDER BY valid_from_seq"
    ) == [("orders", 5, 3, 4096, False), ("orders", 5, 3, 100, True)]
