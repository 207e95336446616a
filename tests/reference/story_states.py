"""What a state of a story's truth says, seen in the tree that the transaction log gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tests.reference.past import Contradiction, Fact, Past
from tests.reference.story_admin_truth import SECRET, read_config


def check_state(past: Past, fact: Fact) -> None:
    """Raise at the first moment of its time at which the tree said something else."""
    view = VIEWS[fact["fact"]]
    for ms in past.moments(fact["from_ms"], fact["to_ms"]):
        seen = view(past, fact, ms)
        told = {name: fact[name] for name in seen}
        if seen != told:
            raise Contradiction(f"at {ms} the log says {seen}, the truth {told}")


def _brokers_are(past: Past, fact: Fact, ms: int) -> Fact:
    return {"broker_ids": sorted(map(int, past.children_at("/brokers/ids", ms)))}


def _controller_is(past: Past, fact: Fact, ms: int) -> Fact:
    return {
        "controller_id": past.json_at("/controller", ms)["brokerid"],
        "controller_epoch": past.json_at("/controller_epoch", ms),
    }


def _leaders_are(past: Past, fact: Fact, ms: int) -> Fact:
    path = f"/brokers/topics/{fact['topic']}"
    replicas = past.json_at(path, ms)["partitions"]
    partitions = {}
    for partition in replicas:
        state = past.json_at(f"{path}/partitions/{partition}/state", ms)
        partitions[partition] = {
            "leader": state["leader"],
            "isr": state["isr"],
            "replicas": replicas[partition],
        }
    return {"partitions": partitions}


def _topic_is_gone(past: Past, fact: Fact, ms: int) -> Fact:
    there = past.children_at("/brokers/topics", ms)
    return {"topic": "still there" if fact["topic"] in there else fact["topic"]}


def _owners_are(past: Past, fact: Fact, ms: int) -> Fact:
    group = f"/consumers/{fact['group']}"
    owners = past.children_at(f"{group}/owners/{fact['topic']}", ms)
    members = sorted(past.children_at(f"{group}/ids", ms))
    said = {partition: owner.decode() for partition, owner in owners.items()}
    ranged = assign_by_range(past, fact["group"], fact["topic"], ms)
    if said != ranged:
        raise Contradiction(f"at {ms} the owners are {said}, the range formula gives {ranged}")
    return {"members": members, "owners": said}


def _offsets_are(past: Past, fact: Fact, ms: int) -> Fact:
    offsets = past.children_at(f"/consumers/{fact['group']}/offsets/{fact['topic']}", ms)
    return {"offsets": {partition: int(offset) for partition, offset in offsets.items()}}


def _lag_is(past: Past, fact: Fact, ms: int) -> Fact:
    """Of its two sides ZooKeeper has the commits; the difference must be right all the same."""
    committed, ends = fact["committed"], fact["ends"]
    if fact["coordinator"] == "zookeeper":
        committed = _offsets_are(past, fact, ms)["offsets"]
    lag = {p: ends[p] - offset for p, offset in committed.items() if p in ends}
    unknown = {p: None for p in lag if fact["lag"].get(p) is None}
    return {"committed": committed, "lag": {**lag, **unknown}}


def _config_is(past: Past, fact: Fact, ms: int) -> Fact:
    config = read_config(past, f"/config/{fact['entity_type']}/{fact['entity']}", ms)
    return {"config": {k: None if k.endswith(SECRET) else v for k, v in config.items()}}


def _untraced(past: Past, fact: Fact, ms: int) -> Fact:
    """ZooKeeper knows nothing of it, and has nothing to say against it."""
    return {}


def assign_by_range(past: Past, group: str, topic: str, ms: int) -> dict[str, str]:
    """Kafka's range formula over the members, streams and partitions of that moment."""
    threads = sorted(
        f"{member}-{stream}"
        for member in past.children_at(f"/consumers/{group}/ids", ms)
        for stream in range(_count_streams(past, group, member, topic, ms))
    )
    partitions = sorted(past.json_at(f"/brokers/topics/{topic}", ms)["partitions"], key=int)
    owners = {}
    for i, thread in enumerate(threads):
        share, rest = divmod(len(partitions), len(threads))
        start = share * i + min(i, rest)
        for partition in partitions[start : start + share + (i < rest)]:
            owners[partition] = thread
    return owners


def _count_streams(past: Past, group: str, member: str, topic: str, ms: int) -> int:
    registration = past.json_at(f"/consumers/{group}/ids/{member}", ms)
    streams: dict[str, int] = registration["subscription"]
    if registration.get("pattern") != "white_list":
        return streams.get(topic, 0)
    return sum(count for regex, count in streams.items() if re.fullmatch(regex, topic))


VIEWS: Mapping[str, Callable[[Past, Fact, int], Fact]] = {
    "brokers_are": _brokers_are,
    "controller_is": _controller_is,
    "leaders_are": _leaders_are,
    "topic_is_gone": _topic_is_gone,
    "owners_are": _owners_are,
    "offsets_are": _offsets_are,
    "lag_is": _lag_is,
    "config_is": _config_is,
    **dict.fromkeys(("kafka_owners_are", "kafka_offsets_are"), _untraced),
}
