"""The cluster's state: what each event changes, and that rows of the lake make it again."""

from __future__ import annotations

import msgspec
import pytest

from streaming.fold.changes import GroupKey, MemberState, OwnerState, PartitionKey
from streaming.fold.cluster_state import ClusterState
from streaming.fold.recalling import recall_cluster_state
from tests.streaming.fold.group_log import CLUSTER, GroupLog, follow
from tests.streaming.fold.lake_rows import recall
from zklake.events.envelope import Event, Gap

G = GroupKey("zookeeper", "g")
K = GroupKey("kafka", "g")


def told(log: GroupLog) -> list[tuple[str, str]]:
    return [(c.kind, c.cause) for changes in follow(log)[1] for c in changes]


def test_partitions_of_a_hostile_name_are_passed_over() -> None:
    log = GroupLog()
    log.claim("g_a", "9" * 5000, "0" * 5000 + "7")
    assert set(follow(log)[0].owners[G]) == {PartitionKey("t", 7)}


def test_members_owners_and_topics_come_and_go() -> None:
    log = GroupLog()
    log.topic("t", 2)
    log.join("g_a")
    log.claim("g_a", 0, 1)
    cluster_state, _ = follow(log)
    assert cluster_state.topics["t"].partitions == (0, 1)
    assert cluster_state.members[G]["g_a"].subscription == {"t": 1}
    assert (
        cluster_state.members[G]["g_a"].session
        == cluster_state.owners[G][PartitionKey("t", 0)].session
    )
    assert cluster_state.owners[G][PartitionKey("t", 1)].owner_member_id == "g_a"
    log.leave("g_a", 0, 1)
    log.drop_topic("t")
    assert told(log)[4:] == [
        ("member_left", "session_ended"),
        ("owner_released", "session_ended"),
        ("owner_released", "session_ended"),
        ("topic_deleted", "event"),
    ]
    assert follow(log)[0] == ClusterState()


def test_what_is_only_seen_changes_nothing_but_seen_seq() -> None:
    log = GroupLog()
    log.join("g_a", op="read", origin="scan")
    log.join("g_a", op="read", origin="scan", is_same=True)
    path = "/consumers/g/ids/g_a"
    log.put("set", "consumer", path, None, fidelity="superseded")
    log.say("unreadable", kind="consumer", path=path)
    log.say("unreadable", kind="consumer", path="/consumers/g/ids/g_b")
    assert told(log) == [("member_joined", "seen")]
    member = follow(log)[0].members[G]["g_a"]
    assert member.seen_seq == 3
    assert member.subscription == {"t": 1}


def test_a_value_that_cannot_be_read_stands_unknown() -> None:
    log = GroupLog()
    log.join("g_a", data="{")
    log.put("create", "owner", "/consumers/g/owners/t/0", None, fidelity="superseded")
    log.put("create", "topic", "/brokers/topics/t", "[]")
    cluster_state, _ = follow(log)
    assert (
        cluster_state.members[G]["g_a"].pattern,
        cluster_state.members[G]["g_a"].subscription,
    ) == (
        None,
        None,
    )
    assert cluster_state.owners[G][PartitionKey("t", 0)].owner is None
    assert cluster_state.topics["t"].partitions is None


def test_another_life_is_an_end_that_nobody_saw() -> None:
    log = GroupLog()
    log.join("g_a")
    log.claim("g_a", 0)
    log.claim("g_a", 0)
    log.join("g_a", op="read", origin="scan")
    assert told(log)[2:] == [
        ("owner_released", "inferred"),
        ("owner_claimed", "event"),
        ("member_left", "inferred"),
        ("member_joined", "inferred"),
    ]


def test_any_write_of_a_topic_is_a_change_but_an_equal_owner_is_none() -> None:
    log = GroupLog()
    log.topic("t", 1)
    log.topic("t", 1, op="set")
    log.join("g_a")
    log.claim("g_a", 0)
    log.claim("g_a", 0, op="set")
    log.join("g_b")
    log.claim("g_b", 0, op="set")
    kinds = [kind for kind, _ in told(log)]
    assert kinds == [
        "topic_created",
        "topic_changed",
        "member_joined",
        "owner_claimed",
        "member_joined",
        "owner_changed",
    ]
    assert follow(log)[0].owners[G][PartitionKey("t", 0)].from_seq == 6


def test_to_learn_a_session_is_no_change() -> None:
    log = GroupLog()
    log.say("create", kind="owner", path="/consumers/g/owners/t/0", data="g_a-0")
    log.sessions["g_a"] = 7
    log.claim("g_a", 0, op="read", origin="scan")
    assert told(log) == [("owner_claimed", "event")]
    assert follow(log)[0].owners[G][PartitionKey("t", 0)].session == 7


@pytest.mark.parametrize("name", ["1-0", "x", "4294967296", "٣"])
def test_owners_of_other_forms_are_passed_over(name: str) -> None:
    log = GroupLog()
    log.put("create", "owner", f"/consumers/g/owners/t/{name}", "g_a-0")
    log.drop("owner", f"/consumers/g/owners/t/{name}")
    assert told(log) == []


def test_a_closure_takes_what_the_frame_did_not_meet() -> None:
    log = GroupLog()
    log.topic("t", 1)
    log.join("g_a")
    log.join("g_b")
    log.claim("g_a", 0)
    log.state({"m": [0]}, generation=1)
    begin = len(log.events)
    log.join("g_b", op="read", origin="scan", is_same=True)
    log.in_sync(closes_from=begin)
    assert told(log)[7:] == [
        ("member_left", "resync"),
        ("owner_released", "resync"),
        ("topic_deleted", "resync"),
    ]
    assert follow(log)[0].members.keys() == {K, G}


def test_it_is_blind_from_a_gap_to_the_next_sync() -> None:
    log = GroupLog()
    log.gap()
    assert follow(log)[0].is_blind
    log.in_sync()
    log.say("gap", path="/consumers", gap=Gap("x", "disconnected", lives=3))
    assert not follow(log)[0].is_blind


def test_a_kafka_group_is_told_whole() -> None:
    log = GroupLog()
    log.state({"m1": [0, 1], "m2": [2]}, generation=1)
    log.state({"m1": [0], "m3": [1, 1, -1, 2**31]}, generation=2)
    log.state({"m1": [0], "m3": [1]}, generation=2)
    cluster_state, changes = follow(log)
    assert [(c.kind, c.member_id, c.partition) for c in changes[1]] == [
        ("owner_released", None, 2),
        ("member_left", "m2", None),
        ("member_joined", "m3", None),
        ("owner_changed", None, 1),
        ("group_changed", None, None),
    ]
    assert changes[2] == ()
    owner = cluster_state.owners[K][PartitionKey("t", 0)]
    assert (owner.owner_member_id, owner.from_seq, owner.seen_seq) == ("m1", 0, 2)
    assert cluster_state.kafka_groups["g"].generation == 2


def test_a_kafka_group_whose_members_did_not_fit_is_still_live() -> None:
    log = GroupLog()
    log.state({"m1": [0]}, generation=1)
    log.state(None, generation=2, member_count=9000)
    cluster_state, _ = follow(log)
    assert K not in cluster_state.members
    assert cluster_state.find_subscribed(K).find_read({"t"}) == {"t"}
    assert not cluster_state.knows_owners(K)
    log.state(None, generation=3, state="Empty")
    cluster_state, _ = follow(log)
    assert cluster_state.find_subscribed(K).find_read({"t"}) == set()
    assert cluster_state.knows_owners(K)


def test_kafka_groups_go_by_tombstone_and_by_completeness() -> None:
    log = GroupLog()
    log.state({"m1": [0]}, generation=1)
    log.round(1, partitions_behind=1)
    log.round(1, reason="not asked yet")
    log.round(0)
    assert "g" in follow(log)[0].kafka_groups
    log.round(1)
    assert told(log)[3:] == [
        ("owner_released", "resync"),
        ("member_left", "resync"),
        ("group_changed", "resync"),
    ]
    log.state({"m1": [0]}, generation=1)
    log.state(None, tombstone=True)
    assert follow(log)[0] == ClusterState()


def test_rows_of_the_lake_make_it_again() -> None:
    log = GroupLog()
    log.topic("t", 3)
    log.put("create", "topic", "/brokers/topics/odd", "[]")
    log.join("g_a")
    log.join("g_b", data="{")
    log.claim("g_a", 0, 1)
    log.state({"m1": [0], "m2": [1]}, generation=4)
    log.gap()
    cluster_state, _ = follow(log)
    assert recall(cluster_state) == cluster_state


def test_rows_of_other_things_are_passed_over() -> None:
    owner = OwnerState("o-0", "o", 1, 3, 4, 5)
    row = {"coordinator": "zookeeper", "group_id": "g", "topic": "t", "partition": 0}
    row |= {"broker_id": 7, "valid_from_seq": 3, "valid_from_at": 4}
    hole = {"gap_id": "x", "valid_from_seq": 5, "valid_to_seq": 5}
    topic = {"topic": "old", "broker_id": 1}
    cluster_state = recall_cluster_state(
        (), [row | msgspec.to_builtins(owner)], [topic], (), [hole]
    )
    assert cluster_state == ClusterState()


def test_an_event_without_a_path_is_nothing() -> None:
    cluster_state = ClusterState()
    log = GroupLog()
    for kind in ("consumer", "owner", "topic"):
        event = Event(CLUSTER, "log", 1, "create", 1, kind=kind)
        assert cluster_state.apply(event, log.context(event)) == ()
    assert MemberState("m").state.fidelity == "exact"
