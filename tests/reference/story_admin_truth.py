"""What the acts upon topics, partitions and configs do, seen in ZooKeeper's transaction log."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.reference.past import Fact, Past, expect
from tests.reference.tree import Change

REASSIGN = "/admin/reassign_partitions"
ELECT = "/admin/preferred_replica_election"
NUDGES = "/config/changes"
# Brokers encrypt these.
SECRET = ".password"
_ENDS = ("from_ms", "to_ms")


def _topic_created(past: Past, fact: Fact) -> list[Change]:
    path = f"/brokers/topics/{fact['topic']}"
    birth = past.only(fact, "create", path)
    expect(birth.json["partitions"] == fact["replicas"], "the replicas are those wanted")
    for partition in fact["replicas"]:
        past.only(fact, "create", f"{path}/partitions/{partition}/state")
    return [birth]


def _partitions_added(past: Past, fact: Fact) -> list[Change]:
    path = f"/brokers/topics/{fact['topic']}"
    growth = past.only(fact, "set", path)
    before = past.json_at(path, fact["from_ms"] - 1)["partitions"]
    expect(growth.json["partitions"] == {**before, **fact["replicas"]}, "only these were added")
    for partition in fact["replicas"]:
        past.only(fact, "create", f"{path}/partitions/{partition}/state")
    return []


def _topic_deleted(past: Past, fact: Fact) -> list[Change]:
    request, topic = f"/admin/delete_topics/{fact['topic']}", f"/brokers/topics/{fact['topic']}"
    asked, end = past.only(fact, "create", request), past.only(fact, "delete", topic)
    for partition in past.children_at(f"{topic}/partitions", fact["from_ms"]):
        past.only(fact, "delete", f"{topic}/partitions/{partition}/state")
    done = past.only(fact, "delete", request)
    expect(asked.zxid < end.zxid < done.zxid, "asked, deleted, done, in this order")
    return [asked, end, done]


def _reassigned(past: Past, fact: Fact) -> list[Change]:
    path, partition = f"/brokers/topics/{fact['topic']}", str(fact["partition"])
    claimed = _find_request(past, fact) if fact["by"] == "znode" else []
    written = past.between(path, fact["from_ms"], fact["to_ms"], "set")
    expect(bool(written), "the topic's znode was written")
    first, last = written[0].json, written[-1].json
    was = past.json_at(path, fact["from_ms"] - 1)["partitions"][partition]
    for name, some, others in (
        ("adding_replicas", fact["replicas"], was),
        ("removing_replicas", was, fact["replicas"]),
    ):
        moving = [replica for replica in some if replica not in others]
        expect(first[name].get(partition, []) == moving, f"{name} were {moving}")
    in_flight = last["adding_replicas"] or last["removing_replicas"]
    expect(not in_flight, "nothing is in flight any more")
    expect(last["partitions"][partition] == fact["replicas"], "it was moved there")
    return claimed


def _find_request(past: Past, fact: Fact) -> list[Change]:
    asked, done = past.only(fact, "create", REASSIGN), past.only(fact, "delete", REASSIGN)
    wanted = {name: fact[name] for name in ("topic", "partition", "replicas")}
    expect(asked.json["partitions"] == [wanted], "this was asked, and nothing else")
    return [asked, done]


def _preferred_elected(past: Past, fact: Fact) -> list[Change]:
    path = f"/brokers/topics/{fact['topic']}"
    replicas = past.json_at(path, fact["to_ms"])["partitions"]
    for partition in fact["partitions"]:
        state, preferred = f"{path}/partitions/{partition}/state", replicas[str(partition)][0]
        if past.json_at(state, fact["from_ms"] - 1)["leader"] != preferred:
            last = past.between(state, fact["from_ms"], fact["to_ms"], "set")[-1:]
            elected = [change.json["leader"] for change in last]
            expect(elected == [preferred], f"partition {partition} was given back")
    if fact["by"] == "api":
        return []
    return [past.only(fact, "create", ELECT), past.only(fact, "delete", ELECT)]


def _config_altered(past: Past, fact: Fact) -> list[Change]:
    path = f"/config/{fact['entity_type']}/{fact['entity']}"
    written = past.between(path, fact["from_ms"], fact["to_ms"])
    expect(len(written) == 1, f"written once, not {len(written)} times")
    before, after = (read_config(past, path, fact[end] - (end == "from_ms")) for end in _ENDS)
    altered = {
        key: after.get(key) for key in {*before, *after} if before.get(key) != after.get(key)
    }
    expect(altered.keys() == fact["changes"].keys(), "these overrides were altered, and no others")
    for key, value in fact["changes"].items():
        is_encrypted = value is not None and key.endswith(SECRET)
        expect((altered[key] == value) != is_encrypted, f"{key} is as told, or kept secret")
    nudge = past.only_child(fact, "create", NUDGES)
    expect(nudge.zxid > written[0].zxid, "the nudge came after")
    named = nudge.json
    whose = named.get("entity_path") or f"{named['entity_type']}/{named['entity_name']}"
    expect(f"/config/{whose}" == path, "the nudge names it")
    return [nudge]


def read_config(past: Past, path: str, ms: int) -> dict[str, str]:
    """The overrides of that moment; none where the znode is not there."""
    config: dict[str, str] = past.json_at(path, ms)["config"] if past.at(path, ms) else {}
    return config


ADMIN_ACTS: Mapping[str, Callable[[Past, Fact], list[Change]]] = {
    "topic_created": _topic_created,
    "partitions_added": _partitions_added,
    "topic_deleted": _topic_deleted,
    "reassigned": _reassigned,
    "preferred_elected": _preferred_elected,
    "config_altered": _config_altered,
}
