"""A group of processes on a real cluster: joins, leaves, kill -9, frozen members."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from lab.cluster import Cluster
from lab.zookeeper_consumer.group import (
    expect_owners,
    is_group_settled,
    read_members,
    read_offsets,
    read_owners,
)
from lab.zookeeper_consumer.ownership import order_claims
from lab.zookeeper_consumer.process import ConsumerProcess
from lab.zookeeper_consumer.producing import produce
from lab.zookeeper_consumer.session import closing_client
from tests.lab.zookeeper_consumer.waiting import wait_for, wait_settled
from tests.reference import txnlog

pytestmark = pytest.mark.integration

PARTITIONS = 6
Start = Callable[..., ConsumerProcess]


@pytest.fixture
def group() -> str:
    return f"g-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def topic(cluster: Cluster, group: str) -> str:
    cluster.create_topic(f"t-{group}", PARTITIONS)
    return f"t-{group}"


@pytest.fixture
def zk(cluster: Cluster) -> Iterator[Any]:
    with closing_client(cluster.zookeeper_connect) as client:
        yield client


@pytest.fixture
def build(cluster: Cluster, topic: str, tmp_path: Path) -> Iterator[Start]:
    """Makes members that end with the test."""
    with ExitStack() as stack:

        def make(group: str, suffix: str, **options: Any) -> ConsumerProcess:
            options = {"session_timeout_ms": 3_000, "backoff_ms": 500, **options}
            log_file = tmp_path / f"{group}-{suffix}.log"
            member = ConsumerProcess(
                cluster.zookeeper_connect,
                group,
                topics=[topic],
                member_suffix=suffix,
                log_file=log_file,
                **options,
            )
            stack.callback(member.close)
            return member

        yield make


@contextmanager
def steady_load(bootstrap: str, topic: str) -> Iterator[None]:
    stopping = Event()
    load = Thread(
        target=produce, args=(bootstrap, topic, None, 100.0), kwargs={"stopping": stopping}
    )
    load.start()
    try:
        yield
    finally:
        stopping.set()
        load.join()


def read_ends(bootstrap: str, topic: str) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "ends"})
    try:
        return {
            p: consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=10)[1]
            for p in range(PARTITIONS)
        }
    finally:
        consumer.close()


def share(owners: dict[int, str]) -> dict[str, int]:
    return {thread: list(owners.values()).count(thread) for thread in sorted(owners.values())}


def find_consumed(members: list[ConsumerProcess]) -> list[tuple[int, int]]:
    return [
        (report["partition"], report["offset"])
        for member in members
        for report in member.reports()
        if report["event"] == "message"
    ]


def test_owners_follow_the_formula_and_no_message_is_lost(
    cluster: Cluster, zk: Any, group: str, topic: str, build: Start
) -> None:
    a, b, c = (build(group, name, messages=True, auto_commit_ms=400) for name in "abc")
    with steady_load(cluster.bootstrap, topic):
        a.start()
        one = wait_settled(zk, group, topic, {a.member_id})
        b.start()
        two = wait_settled(zk, group, topic, {a.member_id, b.member_id})
        c.start()
        three = wait_settled(zk, group, topic, {a.member_id, b.member_id, c.member_id})
        b.stop()
        left = wait_settled(zk, group, topic, {a.member_id, c.member_id})
        b.start()
        back = wait_settled(zk, group, topic, {a.member_id, b.member_id, c.member_id})
        a.kill()
        killed = wait_settled(zk, group, topic, {b.member_id, c.member_id})
    assert share(one) == {f"{group}_a-0": 6}
    assert share(two) == {f"{group}_a-0": 3, f"{group}_b-0": 3}
    assert share(three) == share(back) == dict.fromkeys((f"{group}_{x}-0" for x in "abc"), 2)
    assert share(left) == {f"{group}_a-0": 3, f"{group}_c-0": 3}
    assert share(killed) == {f"{group}_b-0": 3, f"{group}_c-0": 3}
    assert [three[p] for p in range(6)] == [f"{group}_{x}-0" for x in "aabbcc"]

    ends = read_ends(cluster.bootstrap, topic)
    wait_for("the last commit", lambda: read_offsets(zk, group, topic) == ends)
    b.stop()
    c.stop()
    wait_for("an empty group", lambda: not read_members(zk, group))
    assert read_owners(zk, group, topic) == {}
    assert read_offsets(zk, group, topic) == ends
    produced = {(p, offset) for p, end in ends.items() for offset in range(end)}
    consumed = find_consumed([a, b, c])
    assert set(consumed) == produced
    print(f"{len(produced)} messages produced, {len(consumed)} consumed: each at least once")


Step = tuple[str, str, str]


def read_steps(cluster: Cluster, group: str, names: dict[int, str]) -> list[Step]:
    """(who, what, path below the group) of every transaction that touched the group."""
    root = f"/consumers/{group}/"
    return [
        (names.get(txn.session, "?"), op.kind, op.path.removeprefix(root))
        for txn in txnlog.read_dir(cluster.zookeeper.servers[0].data_dir)
        for op in txn.ops
        if not txn.aborted and op.path.startswith(root)
    ]


def find_session(member: ConsumerProcess) -> int:
    registered = [r for r in member.reports() if r["event"] == "registered"]
    return int(registered[-1]["session_id"], 16)


def join_without_conflict(
    cluster: Cluster, zk: Any, topic: str, build: Start
) -> tuple[str, list[Step]]:
    """B's claim may come before A's release: a conflict, and another sequence. Try again then."""
    for _ in range(5):
        group = f"g-{uuid.uuid4().hex[:8]}"
        # No commits: the offsets of an idle topic would only be in the way.
        a, b = (build(group, name, commits=False) for name in "ab")
        a.start()
        b.start()
        wait_settled(zk, group, topic, {a.member_id, b.member_id})
        names = {find_session(a): "A", find_session(b): "B"}
        steps = read_steps(cluster, group, names)
        a.close()
        b.close()
        if not any(report["event"] == "conflict" for report in a.reports() + b.reports()):
            return group, steps[steps.index(("B", "create", f"ids/{group}_b")) :]
    raise AssertionError("five joins, and each of them met a conflict")


def test_one_join_in_zookeepers_transaction_log(
    cluster: Cluster, zk: Any, topic: str, build: Start
) -> None:
    group, steps = join_without_conflict(cluster, zk, topic, build)
    every = order_claims((topic, p) for p in range(PARTITIONS))
    paths = {p: f"owners/{topic}/{p}" for p in range(PARTITIONS)}
    joined, released, claimed = steps[:1], steps[1:7], steps[7:]
    assert joined == [("B", "create", f"ids/{group}_b")]
    assert released == [("A", "delete", paths[p]) for _, p in every]
    # Both claim at the same time; each in its own order.
    by_a, by_b = ([step for step in claimed if step[0] == who] for who in "AB")
    assert by_a == [("A", "create", paths[p]) for _, p in every if p < 3]
    assert by_b == [("B", "create", paths[p]) for _, p in every if p >= 3]
    assert len(claimed) == PARTITIONS


def test_a_frozen_holder_makes_the_joiner_give_up(
    cluster: Cluster, zk: Any, group: str, topic: str, build: Start
) -> None:
    holder = build(group, "a", session_timeout_ms=8_000)
    joiner = build(group, "b", backoff_ms=200)
    both = {holder.member_id, joiner.member_id}
    holder.start()
    wait_settled(zk, group, topic, {holder.member_id})
    holder.pause()
    joiner.start()
    said = [report["event"] for report in joiner.reports()]
    assert said == ["registered", "rebalancing", *["conflict"] * 4, "gave_up"]
    conflict = joiner.reports()[2]
    assert conflict["holders"] == {f"{topic}-{p}": f"{group}_a-0" for p in (3, 4, 5)}
    assert read_members(zk, group).keys() == both
    # VerifyConsumerRebalance would be content, although the formula says otherwise.
    assert is_group_settled(zk, group)
    assert share(read_owners(zk, group, topic)) == {f"{group}_a-0": 6}
    # A refused claim stands in the log as NodeExists, with its session and without a path.
    refused = [
        op.error
        for txn in txnlog.read_dir(cluster.zookeeper.servers[0].data_dir)
        for op in txn.ops
        if txn.session == find_session(joiner) and op.kind == "error"
    ]
    assert refused.count(-110) == 4 * 3

    # Thawed in time, the holder makes room; but no watch of the one who gave up fires.
    holder.resume()
    half = dict.fromkeys(range(3), f"{group}_a-0")
    wait_for("the holder's release", lambda: read_owners(zk, group, topic) == half)
    assert read_members(zk, group).keys() == both
    assert not is_group_settled(zk, group)
    assert said == [report["event"] for report in joiner.reports()]

    # Frozen until it expires: its departure is the event that the other has waited for.
    holder.pause()
    wait_settled(zk, group, topic, {joiner.member_id})
    holder.resume()
    owners = wait_settled(zk, group, topic, both)
    assert owners == expect_owners(zk, group)[topic]
    assert share(owners) == {f"{group}_a-0": 3, f"{group}_b-0": 3}
    sessions = [r["session_id"] for r in holder.reports() if r["event"] == "registered"]
    assert len(set(sessions)) == 2
    assert "expired" in [report["event"] for report in holder.reports()]


def find_writes(cluster: Cluster, path: str) -> list[tuple[int, int]]:
    """(session, offset) of every write to an offset, in order."""
    return [
        (txn.session, int(op.data or b""))
        for txn in txnlog.read_dir(cluster.zookeeper.servers[0].data_dir)
        for op in txn.ops
        if op.path == path and op.kind in ("create", "set")
    ]


def test_a_member_thawed_after_expiry_commits_over_the_new_owner(
    cluster: Cluster, zk: Any, group: str, topic: str, build: Start
) -> None:
    zombie = build(group, "b", auto_commit_ms=800)
    heir = build(group, "a", auto_commit_ms=200)
    with steady_load(cluster.bootstrap, topic):
        zombie.start()
        wait_for("a commit", lambda: len(read_offsets(zk, group, topic)) == PARTITIONS)
        # With some way to the next commit: what it has read by then is not yet written.
        time.sleep(0.4)
        zombie.pause()
        wait_for("its expiry", lambda: not read_members(zk, group))
        heir.start()
        wait_settled(zk, group, topic, {heir.member_id})
        time.sleep(1)
        zombie.resume()
        wait_settled(zk, group, topic, {zombie.member_id, heir.member_id})
        # What it wrote over is written anew with the next messages.
        time.sleep(1)
    writes = {
        p: find_writes(cluster, f"/consumers/{group}/offsets/{topic}/{p}")
        for p in range(PARTITIONS)
    }
    # Under its new session, out of its old life: the offset goes down.
    dips = [
        (before, after)
        for of_partition in writes.values()
        for (_, before), (session, after) in pairwise(of_partition)
        if session == find_session(zombie) and after < before
    ]
    assert dips
    ends = read_ends(cluster.bootstrap, topic)
    wait_for("the end", lambda: read_offsets(zk, group, topic) == ends)
