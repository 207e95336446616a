from __future__ import annotations

import pytest

from watcher.log.topic_rules import (
    EVENTS_RULES,
    MAX_MESSAGE_BYTES,
    TREE_RULES,
    events_configs,
    judge_topic,
    tree_configs,
)
from zklake.errors import TopicRefused


def judge_events(**changes: str) -> list[str]:
    found = events_configs(1) | {name.replace("_", "."): value for name, value in changes.items()}
    return judge_topic("host:9092", "zklake.c", 1, found, EVENTS_RULES)


def test_what_we_create_is_what_we_accept() -> None:
    assert judge_events() == []
    assert judge_topic("host:9092", "zklake.c.tree", 1, tree_configs(3), TREE_RULES) == []


@pytest.mark.parametrize(("replication", "insync"), [(1, "1"), (2, "1"), (3, "2")])
def test_one_replica_may_be_away(replication: int, insync: str) -> None:
    assert events_configs(replication)["min.insync.replicas"] == insync
    assert tree_configs(replication)["min.insync.replicas"] == insync


@pytest.mark.parametrize("policy", ["compact", "compact,delete"])
def test_compacted_events_are_refused_with_the_command_that_helps(policy: str) -> None:
    with pytest.raises(TopicRefused) as refused:
        judge_events(cleanup_policy=policy)
    text = str(refused.value)
    assert f"topic zklake.c has cleanup.policy={policy}, needed is delete" in text
    assert "kafka-configs.sh --bootstrap-server host:9092 --alter" in text
    assert "--entity-name zklake.c --add-config cleanup.policy=delete" in text


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_tree_that_forgets_rows_is_refused(policy: str) -> None:
    with pytest.raises(TopicRefused, match="needed is compact"):
        judge_topic("h:1", "t", 1, tree_configs(1) | {"cleanup.policy": policy}, TREE_RULES)


def test_every_reason_to_refuse_is_told_at_once() -> None:
    with pytest.raises(TopicRefused) as refused:
        judge_events(cleanup_policy="compact", max_message_bytes="1048588")
    fix = f"--add-config cleanup.policy=delete,max.message.bytes={MAX_MESSAGE_BYTES}"
    assert str(refused.value).endswith(fix)


def test_more_partitions_are_refused() -> None:
    with pytest.raises(TopicRefused, match=r"zklake\.c has 3 partitions, needed is 1"):
        judge_topic("h:1", "zklake.c", 3, events_configs(1), EVENTS_RULES)


def test_what_only_shortens_history_is_a_warning() -> None:
    (warning,) = judge_events(retention_ms="604800000")
    assert "retention.ms=604800000, needed is -1" in warning
    (warning,) = judge_events(unclean_leader_election_enable="true")
    assert "unclean" in warning
