"""What a state of a story's truth says, seen in the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.e2e.lake_past import Fact, LakePast, Row
from tests.e2e.theatre import SAMPLE_MS
from tests.reference.past import Contradiction


def check_state(past: LakePast, fact: Fact) -> None:
    """Raise when the tables say something else of the end of its time."""
    seen = [_look(past, fact, ms) for ms in past.late_moments(fact["to_ms"])]
    if not any(one == {name: fact[name] for name in one} for one in seen):
        raise Contradiction(f"the tables say {seen[0]}, the truth {fact}")


def _look(past: LakePast, fact: Fact, ms: int) -> Fact:
    try:
        return VIEWS[fact["fact"]](past, fact, ms)
    except Contradiction as error:
        return {"fact": str(error)}


def _brokers_are(past: LakePast, fact: Fact, ms: int) -> Fact:
    return {"broker_ids": sorted(row["broker_id"] for row in past.at("broker_membership", ms))}


def _controller_is(past: LakePast, fact: Fact, ms: int) -> Fact:
    reign = past.one_at("controller", ms)
    return {name: reign[name] for name in ("controller_id", "controller_epoch")}


def _leaders_are(past: LakePast, fact: Fact, ms: int) -> Fact:
    replicas = list_replicas(past.one_at("topics", ms, topic=fact["topic"])["replicas"])
    partitions = {}
    for state in past.at("partition_state", ms, topic=fact["topic"]):
        name = str(state["partition"])
        led = {"leader": state["leader"], "isr": state["isr"]}
        partitions[name] = {**led, "replicas": replicas.get(name)}
    return {"partitions": partitions}


def _topic_is_gone(past: LakePast, fact: Fact, ms: int) -> Fact:
    left = [past.at(table, ms, topic=fact["topic"]) for table in ("topics", "partition_state")]
    return {"topic": "still there" if any(left) else fact["topic"]}


def _owners_are(past: LakePast, fact: Fact, ms: int) -> Fact:
    group = _name_group(fact)
    members = past.at("consumer_membership", ms, **group)
    owned = past.at("ownership_history", ms, **group, topic=fact["topic"])
    return {
        "members": sorted(row["member_id"] for row in members),
        "owners": {str(row["partition"]): row["owner"] for row in owned},
    }


def _offsets_are(past: LakePast, fact: Fact, ms: int) -> Fact:
    committed = past.at("consumer_offsets", ms, **_name_group(fact), topic=fact["topic"])
    return {"offsets": {str(row["partition"]): row["committed_offset"] for row in committed}}


def _kafka_offsets_are(past: LakePast, fact: Fact, ms: int) -> Fact:
    """Of the commits of an interval only the last is said, with its own time: perhaps one of the
    same offset, a moment after the look."""
    told = _offsets_are(past, fact, ms)["offsets"]
    later = {**fact, "from_ms": ms, "to_ms": ms + SAMPLE_MS}
    of_group = {**_name_group(fact), "topic": fact["topic"]}
    for row in reversed(past.list_begun("consumer_offsets", later, **of_group)):
        partition = str(row["partition"])
        if fact["offsets"].get(partition) == row["committed_offset"]:
            told[partition] = row["committed_offset"]
    return {"offsets": told}


def _name_group(fact: Fact) -> dict[str, str]:
    coordinator = "kafka" if fact["fact"].startswith("kafka_") else "zookeeper"
    return {"coordinator": coordinator, "group_id": fact["group"]}


def _config_is(past: LakePast, fact: Fact, ms: int) -> Fact:
    return {"config": {key: row["value"] for key, row in find_config(past, fact, ms).items()}}


def find_config(past: LakePast, fact: Fact, ms: int) -> dict[str | None, Row]:
    """The rows of an entity's overrides that held at that moment, by key."""
    entity = {"entity_type": fact["entity_type"], "entity_name": fact["entity"]}
    return {row["config_key"]: row for row in past.at("config_history", ms, **entity)}


def list_replicas(replicas: Mapping[int, list[int]] | None) -> dict[str, list[int]]:
    """As the truth has them: keys are strings."""
    return {str(partition): brokers for partition, brokers in dict(replicas or {}).items()}


VIEWS: Mapping[str, Callable[[LakePast, Fact, int], Fact]] = {
    "brokers_are": _brokers_are,
    "controller_is": _controller_is,
    "leaders_are": _leaders_are,
    "topic_is_gone": _topic_is_gone,
    "owners_are": _owners_are,
    "offsets_are": _offsets_are,
    "config_is": _config_is,
    "kafka_owners_are": _owners_are,
    "kafka_offsets_are": _kafka_offsets_are,
}
