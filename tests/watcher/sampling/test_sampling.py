"""Samples of real brokers and a real consumer group, compared with what the brokers say."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

from tests.watcher.watching import LogTail, WatcherProcess, wait_for
from watcher.sampling.brokers import Brokers
from watcher.sampling.group_poll import GroupPoll
from watcher.sampling.offsets_topic import OffsetsTopic
from watcher.sampling.thinning import Taken
from zklake.events.samples import Commit, GroupReading, TopicPartitions
from zklake.name_patterns import Names
from zklake.supervision.child_process import ChildProcess

if TYPE_CHECKING:
    from lab.cluster import Cluster

pytestmark = pytest.mark.integration

SAMPLING = {"ZKLAKE_WATCHER__SAMPLING": "true", "ZKLAKE_WATCHER__SAMPLE_INTERVAL_S": "1"}
Event = dict[str, Any]
Key = tuple[str, int]


@pytest.fixture(scope="module")
def watched() -> Iterator[Cluster]:
    from lab.cluster import Cluster

    settings = {
        "offsets.topic.num.partitions": "4",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with Cluster(brokers=2, settings=settings) as cluster:
        cluster.create_topic("orders", 4)
        cluster.create_topic("bills", 2, replication=2)
        yield cluster


def produce(cluster: Cluster, topic: str, partitions: int, records: int = 10) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for partition in range(partitions):
        for _ in range(records + partition):
            producer.produce(topic, b"x", partition=partition)
    assert producer.flush(20) == 0


def join(cluster: Cluster, group: str, topics: list[str]) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": group,
            "client.id": "tester",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(topics)
    wait_for("an assignment", lambda: consumer.poll(0.2) is not None and consumer.assignment())
    return consumer


def ask_ends(cluster: Cluster, partitions: list[Key]) -> dict[Key, tuple[int, int]]:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    asked = [TopicPartition(*key) for key in partitions]
    earliest: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
    latest: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    starts = admin.list_offsets(dict.fromkeys(asked, earliest))
    ends = admin.list_offsets(dict.fromkeys(asked, latest))
    return {
        (each.topic, each.partition): (starts[each].result().offset, ends[each].result().offset)
        for each in asked
    }


def said_ends(events: list[Event]) -> dict[Key, tuple[int, int]]:
    """A fold of log_ends: the last that was said of each partition."""
    ends = [end for e in events if "log_ends" in e for end in e["log_ends"].get("partitions", [])]
    return {
        (end["topic"], end["partition"]): (end["log_start_offset"], end["log_end_offset"])
        for end in ends
        if "error" not in end
    }


def said_commits(events: list[Event], group: str) -> dict[Key, int | None]:
    """A fold of group_commit; None stands for a tombstone."""
    commits = [c for e in events if "group_commit" in e for c in e["group_commit"]["commits"]]
    return {
        (c["topic"], c["partition"]): c.get("committed_offset")
        for c in commits
        if c["group_id"] == group
    }


def said_states(events: list[Event], group: str) -> list[Event]:
    states = [e["group_state"] for e in events if "group_state" in e]
    return [state for state in states if state["group_id"] == group]


def rounds(events: list[Event]) -> list[Event]:
    return [e["log_ends"]["round"] for e in events if "round" in e.get("log_ends", {})]


PARTITIONS = [*(("orders", p) for p in range(4)), ("bills", 0), ("bills", 1)]


def test_the_log_says_what_the_brokers_say(watched: Cluster, tmp_path: Path) -> None:
    produce(watched, "orders", 4)
    consumer = join(watched, "payments", ["orders", "bills"])
    consumer.commit(offsets=[TopicPartition("orders", 1, 3, "note")], asynchronous=False)
    environ = SAMPLING | {"ZKLAKE_LOG__REPLICATION_FACTOR": "1"}
    with WatcherProcess(
        watched.zookeeper_connect, watched.bootstrap, tmp_path, environ=environ
    ) as watcher:
        tail = LogTail(watched.bootstrap, watcher.cluster)
        wait_for("the base", lambda: any(_is_complete(r) for r in rounds(tail.poll())))
        assert said_commits(tail.events, "payments") == {("orders", 1): 3}
        produce(watched, "orders", 4)
        produce(watched, "bills", 2)
        for partition in range(4):
            consumer.commit(
                offsets=[TopicPartition("orders", partition, 5 + partition)], asynchronous=False
            )
        truth = ask_ends(watched, PARTITIONS)
        wait_for("the ends", lambda: truth.items() <= said_ends(tail.poll()).items(), 20)
        committed = consumer.committed([TopicPartition("orders", p) for p in range(4)], timeout=10)
        offsets = {(each.topic, each.partition): each.offset for each in committed}
        wait_for("the commits", lambda: said_commits(tail.poll(), "payments") == offsets, 20)
        _check_group(tail.events, consumer)
        consumer.close()
        wait_for(
            "the empty group", lambda: said_states(tail.poll(), "payments")[-1]["state"] == "Empty"
        )
        admin = AdminClient({"bootstrap.servers": watched.bootstrap})
        admin.delete_consumer_groups(["payments"])["payments"].result()
        wait_for("its end", lambda: said_states(tail.poll(), "payments")[-1].get("tombstone"))
        assert set(said_commits(tail.poll(), "payments").values()) == {None}
        watcher.process.stop(timeout_s=15)
        assert watcher.process.exit_code == 0
        events = tail.read_all()
        tail.close()
    _check_order(events)


def _is_complete(each: Event) -> bool:
    return "complete_since_seq" in each.get("groups", {})


def _check_group(events: list[Event], consumer: Consumer) -> None:
    state = said_states(events, "payments")[-1]
    (member,) = state["members"]
    assert (state["state"], state["protocol_type"], state["protocol"]) == (
        "Stable",
        "consumer",
        "range",
    )
    assert (member["client_id"], member["client_host"]) == ("tester", "127.0.0.1")
    assert member["subscription"] == ["bills", "orders"]
    assigned = {(each["topic"], p) for each in member["assignment"] for p in each["partitions"]}
    assert assigned == {(each.topic, each.partition) for each in consumer.assignment()}


def _check_order(events: list[Event]) -> None:
    seqs = [event["seq"] for event in events]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    assert events[-1]["gap"]["reason"] == "restart", "the last word"
    topics = {topic for topic, _ in said_ends(events)}
    assert topics == {"orders", "bills"}
    said = rounds(events)
    assert [each.get("is_base", False) for each in said].count(True) == 1
    # Pairing: at the first round asked after a commit, the log reaches that commit.
    ends: dict[Key, int] = {}
    waiting: list[tuple[int, Event]] = []
    for event in events:
        waiting += [(event["seq"], c) for c in event.get("group_commit", {}).get("commits", [])]
        sample = event.get("log_ends", {})
        for end in sample.get("partitions", []):
            ends[end["topic"], end["partition"]] = end["log_end_offset"]
        if "round" not in sample:
            continue
        asked = sample["round"]["after_seq"]
        assert asked < event["seq"]
        for seq, commit in waiting:
            if seq <= asked and "committed_offset" in commit:
                assert commit["committed_offset"] <= ends[commit["topic"], commit["partition"]]
        waiting = [(seq, commit) for seq, commit in waiting if seq > asked]


def test_many_partitions_are_asked_in_several_requests(
    watched: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    produce(watched, "orders", 4)
    monkeypatch.setattr("watcher.sampling.brokers.AT_ONCE", 1)
    brokers = Brokers(watched.bootstrap, {}, Names(("orders", "bills")))
    asked = brokers.read_layout(10).by_leader().items()
    answers = [brokers.ask(broker_id, partitions, 10) for broker_id, partitions in asked]
    found = {(e.topic, e.partition): e for answer in answers for e in answer.ends}
    ends = {key: (end.log_start_offset, end.log_end_offset) for key, end in found.items()}
    assert ends == ask_ends(watched, PARTITIONS)


def test_groups_that_are_asked_say_the_same(watched: Cluster) -> None:
    produce(watched, "orders", 4)
    consumer = join(watched, "asked", ["orders"])
    consumer.commit(offsets=[TopicPartition("orders", 2, 6, "note")], asynchronous=False)
    poll = GroupPoll(
        watched.bootstrap, {}, Names(("asked",)), lambda: 7, interval_s=0.2, because="denied"
    )
    try:
        taken, reading = wait_for("a poll", lambda: _take_whole(poll))
        assert taken.commits == [Commit("asked", "orders", 2, 6, metadata="note")]
        (state,) = taken.states
        assert state.state == "Stable"
        (member,) = state.members
        assert member.client_id == "tester"
        assert member.assignment == (TopicPartitions("orders", (0, 1, 2, 3)),)
        assert (reading.source, reading.complete_since_seq) == ("admin_api", 7)
        assert "denied" in (reading.reason or "")
        consumer.close()
        again = wait_for("the empty group", lambda: poll.take()[0].states)
        assert (again[0].state, again[0].members) == ("Empty", ())
    finally:
        poll.close()


def _take_whole(poll: GroupPoll) -> tuple[Taken, GroupReading] | None:
    taken, reading = poll.take()
    return (taken, reading) if taken.states else None


class DryRun:
    """`zklake watch --dry-run`: samples are printed, no Kafka of ours is needed."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        self._file = directory / "printed"
        self._file.touch()
        environ = [f"{name}={value}" for name, value in SAMPLING.items()]
        command = ["env", *environ, sys.executable, "-m", "zklake", "watch", "--dry-run"]
        self.process = ChildProcess(
            [*command, "--zookeeper", cluster.zookeeper_connect], self._file
        )

    def events(self) -> list[Event]:
        lines = self._file.read_text().splitlines()
        whole = [line for line in lines if line.startswith('{"cluster"') and line.endswith("}")]
        return [json.loads(line) for line in whole]

    def rounds(self) -> list[Event]:
        return rounds(self.events())


def test_a_broker_that_hangs_delays_only_its_own_partitions(
    watched: Cluster, tmp_path: Path
) -> None:
    leaders = _find_leaders(watched)
    hanging, other = watched.brokers[1], watched.brokers[0]
    run = DryRun(watched, tmp_path)
    try:
        wait_for("both", lambda: any(r.get("brokers_answered") == [0, 1] for r in run.rounds()))
        hanging.pause()
        before = len(run.events())
        mine = [key for key, leader in leaders.items() if leader == other.broker_id]
        _produce_to(other.address, mine)
        truth = _ask_from(other.address, mine)
        wait_for("the others' ends", lambda: truth.items() <= said_ends(run.events()).items(), 10)
        failed = wait_for(
            "its failure",
            lambda: [r for r in rounds(run.events()[before:]) if r.get("brokers_failed")],
            20,
        )
        assert failed[0]["brokers_failed"][0]["broker_id"] == hanging.broker_id
        assert failed[0]["brokers_failed"][0]["reason"]
        alone = wait_for("rounds of the other", lambda: _find_alone(run.events()[before:]), 20)
        assert max(r.get("took_ms", 0) for r in alone) < 3000
        hanging.resume()
        wait_for("back", lambda: run.rounds()[-1].get("brokers_answered") == [0, 1], 30)
    finally:
        if not hanging.is_awake():
            hanging.resume()
        run.process.kill()


def _find_alone(events: list[Event]) -> list[Event] | None:
    found = [r for r in rounds(events) if r.get("brokers_answered") == [0]]
    return found if len(found) >= 3 else None


def test_groups_are_polled_where_the_offsets_topic_is_denied(
    watched: Cluster, tmp_path: Path
) -> None:
    consumer = join(watched, "denied", ["orders"])
    consumer.commit(offsets=[TopicPartition("orders", 2, 6)], asynchronous=False)
    brokers = Brokers(watched.bootstrap, {}, Names())
    deny(watched, sees_it=True)
    topic = OffsetsTopic(watched.bootstrap, {}, Names(), lambda: 7)
    topic.expect(brokers.read_layout(10).group_leaders)
    assert "authorization" in wait_for("the refusal", lambda: topic.denied).lower()
    topic.close()
    deny(watched, sees_it=False)
    wait_for("to be blind", lambda: brokers.read_layout(10).groups_denied)
    run = DryRun(watched, tmp_path)
    try:
        said = wait_for("a complete poll", lambda: [r for r in run.rounds() if _is_complete(r)])
        assert said[0]["groups"]["source"] == "admin_api"
        assert "authorization" in said[0]["groups"]["reason"].lower()
        assert said_commits(run.events(), "denied") == {("orders", 2): 6}
    finally:
        run.process.kill()
        consumer.close()


def deny(cluster: Cluster, sees_it: bool) -> None:
    """Nobody may read __consumer_offsets; one ACL on it takes away all that none allows."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    rules = [(AclOperation.READ, AclPermissionType.DENY)]
    rules += [(AclOperation.DESCRIBE, AclPermissionType.ALLOW)] if sees_it else []
    where = (ResourceType.TOPIC, "__consumer_offsets", ResourcePatternType.LITERAL)
    anything = (AclOperation.ANY, AclPermissionType.ANY)
    everything = AclBindingFilter(*where, None, None, *anything)  # type: ignore[arg-type]
    admin.delete_acls([everything])[everything].result()
    bindings = [AclBinding(*where, "User:*", "*", *rule) for rule in rules]
    for future in admin.create_acls(bindings).values():
        future.result()


def _find_leaders(cluster: Cluster) -> dict[Key, int]:
    topics = AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics(timeout=10).topics
    return {
        (name, p.id): p.leader
        for name in ("orders", "bills")
        for p in topics[name].partitions.values()
    }


def _produce_to(address: str, partitions: list[Key]) -> None:
    producer = Producer({"bootstrap.servers": address, "log_level": 0, "acks": 1})
    for topic, partition in partitions:
        producer.produce(topic, b"x", partition=partition)
    assert producer.flush(20) == 0


def _ask_from(address: str, partitions: list[Key]) -> dict[Key, tuple[int, int]]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "asks", "log_level": 0})
    found = {
        key: consumer.get_watermark_offsets(TopicPartition(*key), timeout=10) for key in partitions
    }
    consumer.close()
    return found
