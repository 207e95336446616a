"""The right answers to questions about topics, partitions, configs and what was asked of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from confluent_kafka.admin import PartitionMetadata

from tests.e2e.told import (
    BROKER_LEFT,
    Fact,
    Row,
    Rows,
    Told,
    is_seen_within,
    is_within,
    ms,
    only,
)

_CREATED = ("topic_created", "partitions_added")


def find_one_short(told: Told) -> Fact:
    """The leaders, while the first of the brokers was down."""
    stopped, *_ = told.find("broker_stopped", story="rolling-restart")
    return told.find_after(stopped, "leaders_are", story="rolling-restart")


def check_under_replicated_at(told: Told, rows: Rows) -> None:
    state = find_one_short(told)
    found = {str(row["partition"]): row for row in rows if row["topic"] == state["topic"]}
    short = {
        partition: one
        for partition, one in state["partitions"].items()
        if len(one["isr"]) < len(one["replicas"])
    }
    assert found.keys() == short.keys()
    for partition, one in short.items():
        row = found[partition]
        assert (row["leader"], row["isr"]) == (one["leader"], one["isr"])
        assert sorted(row["missing"]) == sorted(set(one["replicas"]) - set(one["isr"]))


def _list_partitions(told: Told) -> Iterator[tuple[tuple[str, int], PartitionMetadata]]:
    for name, topic in told.metadata.topics.items():
        for partition in topic.partitions.values():
            yield (name, partition.id), partition


def _name_partitions(rows: Rows) -> list[tuple[str, int]]:
    return sorted((row["topic"], row["partition"]) for row in rows)


def check_offline_partitions(told: Told, rows: Rows) -> None:
    offline = [name for name, one in _list_partitions(told) if one.leader == -1]
    assert _name_partitions(rows) == sorted(offline)


def check_under_replicated_now(told: Told, rows: Rows) -> None:
    short = [name for name, one in _list_partitions(told) if len(one.isrs) < len(one.replicas)]
    assert _name_partitions(rows) == sorted(short)


def check_preferred_leaders(told: Told, rows: Rows) -> None:
    wanted: dict[int, list[bool]] = {}
    for _, one in _list_partitions(told):
        wanted.setdefault(one.replicas[0], []).append(one.leader == one.replicas[0])
    found = {row["broker_id"]: (row["preferred"], row["led"]) for row in rows}
    assert found == {broker: (len(ledby), sum(ledby)) for broker, ledby in wanted.items()}


def check_isr_shrinks(told: Told, rows: Rows) -> None:
    for stopped in told.find("broker_stopped", story="rolling-restart"):
        state = told.find_after(stopped, "leaders_are", story="rolling-restart")
        back = told.find_after(stopped, "broker_started", broker_id=stopped["broker_id"])
        whole = told.find_after(back, "leaders_are", story="rolling-restart")
        for partition in state["partitions"]:
            shrink = only(
                [
                    row
                    for row in _of(rows, state["topic"], partition)
                    if is_within(row["shrunk_at"], stopped)
                ]
            )
            assert shrink["fell_out"] == [stopped["broker_id"]]
            assert back["from_ms"] <= ms(shrink["shrunk_at"] + shrink["back_after"])
            assert ms(shrink["shrunk_at"] + shrink["back_after"]) <= whole["to_ms"]


def _of(rows: Rows, topic: str, partition: int | str) -> Rows:
    return [row for row in rows if (row["topic"], str(row["partition"])) == (topic, str(partition))]


def check_leader_changes(told: Told, rows: Rows) -> None:
    """Told from each creation on, they lead to every state that was seen."""
    for state in told.find("leaders_are"):
        for partition, one in state["partitions"].items():
            created = [
                fact
                for fact in told.find(*_CREATED, topic=state["topic"])
                if fact["to_ms"] <= state["from_ms"] and partition in fact["replicas"]
            ][-1]
            leader = created["replicas"][partition][0]
            for row in _of(rows, state["topic"], partition):
                if created["from_ms"] <= ms(row["changed_at"]) <= state["to_ms"]:
                    assert row["old_leader"] == leader
                    leader = row["new_leader"]
            assert leader == one["leader"]


def check_leaderless_partitions(told: Told, rows: Rows) -> None:
    kills, deletions = told.find("broker_killed"), told.find("topic_deleted")
    assert {row["topic"] for row in rows} >= {fact["topic"] for fact in deletions}
    for row in rows:
        is_deleted = any(
            fact["topic"] == row["topic"] and is_within(row["since"], fact) for fact in deletions
        )
        killed = [
            fact
            for fact in kills
            if is_within(
                row["since"], {**fact, "to_ms": told.find_after(fact, "leaders_are")["to_ms"]}
            )
        ]
        # Nobody led it, and still nobody: a controller wrote twice.
        leaders = {fact["broker_id"] for fact in killed} | ({-1} if killed else set())
        assert is_deleted or row["leader_before"] in leaders


def check_leader_epochs(told: Told, rows: Rows) -> None:
    (created,) = told.find("topic_created", story="rolling-restart")
    # Every partition has a replica on every broker, so each departure is one decision or more.
    departures = told.find(*BROKER_LEFT)
    for partition in created["replicas"]:
        row = only(_of(rows, created["topic"], partition))
        assert row["decisions"] == row["leader_epoch"] >= len(departures)
    for row in rows:
        assert row["highest_jump"] == 1 or row["unseen_versions"] > 0


def check_partitions_added(told: Told, rows: Rows) -> None:
    facts = told.find("partitions_added")
    assert len(rows) == len(facts)
    for row, fact in zip(rows, facts, strict=True):
        numbers = sorted(map(int, fact["replicas"]))
        assert row["topic"] == fact["topic"]
        assert is_within(row["added_at"], fact)
        assert (row["partitions_before"], row["partitions_after"]) == (numbers[0], numbers[-1] + 1)


def check_topics_recreated(told: Told, rows: Rows) -> None:
    created = [fact["topic"] for fact in told.find("topic_created")]
    (again,) = {topic for topic in created if created.count(topic) > 1}
    assert {row["topic"] for row in rows} == {again}
    lives, (deleted,) = (
        told.find("topic_created", topic=again),
        told.find("topic_deleted", topic=again),
    )
    assert [row["partitions"] for row in rows] == [len(life["replicas"]) for life in lives]
    assert all(is_within(row["created_at"], life) for row, life in zip(rows, lives, strict=True))
    assert is_seen_within(rows[0]["deleted_at"], deleted)
    assert rows[1]["deleted_at"] is None
    assert rows[0]["topic_id"] != rows[1]["topic_id"]


def check_topic_deletions(told: Told, rows: Rows) -> None:
    facts = told.find("topic_deleted")
    assert [row["topic"] for row in rows] == [fact["topic"] for fact in facts]
    for row, fact in zip(rows, facts, strict=True):
        assert is_within(row["asked_at"], fact)
        assert is_seen_within(row["asked_at"] + row["took"], fact)
        assert row["outcome"] == "finished"


def check_reassignments(told: Told, rows: Rows) -> None:
    for fact in told.find("reassigned"):
        found = [row for row in rows if is_within(row["asked_at"], fact)]
        assert found, fact
        # The controller may be faster than the watcher's read: a request that nobody could read.
        read = [row for row in found if row["topic"] is not None]
        for row in read:
            assert (row["topic"], row["partition"]) == (fact["topic"], fact["partition"])
            assert row["replicas"] == fact["replicas"]
            assert row["is_inferred"] == (fact["by"] == "api") or len(read) < len(found)
        for row in found:
            assert row["outcome"] == "finished"
            assert is_seen_within(row["asked_at"] + row["took"], fact)


def check_config_changes(told: Told, rows: Rows) -> None:
    standing: dict[tuple[str, str, str], Any] = {}
    for fact in told.find("config_altered"):
        for key, value in fact["changes"].items():
            name = (fact["entity_type"], fact["entity"], key)
            row = _find_change(rows, name, fact)
            after = None if row["is_redacted"] else value
            assert (row["before"], row["after"]) == (standing.get(name), after)
            gone = ("removed", "deleted")
            assert row["what"] in (gone if value is None else ("changed", "set"))
            standing[name] = after


def _find_change(rows: Rows, name: tuple[str, str, str], fact: Fact) -> Row:
    columns = ("entity_type", "entity_name", "config_key")
    changes = [row for row in rows if tuple(row[column] for column in columns) == name]
    on_time = [row for row in changes if is_within(row["changed_at"], fact)]
    # Without its last override the znode itself is deleted.
    return only(on_time or [row for row in changes if is_seen_within(row["changed_at"], fact)])


def check_znode_history(told: Told, rows: Rows) -> None:
    facts = told.find(*_CREATED, story="partitions-added")
    counts = [sum(len(fact["replicas"]) for fact in facts[: n + 1]) for n in range(len(facts))]
    assert [len(json.loads(row["data"])["partitions"]) for row in rows] == counts
    assert [row["version"] for row in rows] == list(range(len(facts)))
