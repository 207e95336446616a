"""What the acts upon topics, partitions and configs do, seen in the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.e2e.lake_past import GONE, LATE_MS, Fact, LakePast, Row
from tests.e2e.story_table_states import find_config, list_replicas
from tests.reference.past import expect


def _topic_created(past: LakePast, fact: Fact) -> list[int]:
    birth = past.began("topics", fact, topic=fact["topic"])
    expect(list_replicas(birth["replicas"]) == fact["replicas"], "the replicas are those wanted")
    lives = past.find("topics", topic=fact["topic"], is_birth=True)
    for identity in ("incarnation", "topic_id"):
        known = {row[identity] for row in lives} - {None}
        expect(len(known) == len(lives), f"every life has its own {identity}")
    _expect_partitions(past, fact)
    return [birth["valid_from_seq"]]


def _expect_partitions(past: LakePast, fact: Fact) -> None:
    for partition in fact["replicas"]:
        past.began("partition_state", fact, topic=fact["topic"], partition=int(partition))


def _partitions_added(past: LakePast, fact: Fact) -> list[int]:
    before, after = (
        list_replicas(past.one_at("topics", ms, topic=fact["topic"])["replicas"])
        for ms in (fact["from_ms"] - 1, fact["to_ms"])
    )
    expect(after == {**before, **fact["replicas"]}, "these were added")
    expect(not before.keys() & fact["replicas"].keys(), "they were not there before")
    _expect_partitions(past, fact)
    return []


def _topic_deleted(past: LakePast, fact: Fact) -> list[int]:
    request = {"operation": "topic_deletion", "topic": fact["topic"]}
    asked = past.began("admin_operations", fact, **request)["life"]
    end = past.ended("topics", fact, topic=fact["topic"])
    for state in past.at("partition_state", fact["from_ms"], topic=fact["topic"]):
        partition = past.ended(
            "partition_state", fact, topic=fact["topic"], partition=state["partition"]
        )
        expect(partition["ended_by"] == "deleted", "its partitions went too")
    expect(end["ended_by"] == "deleted", "it was deleted")
    done = past.ended("admin_operations", fact, **request)
    expect(done["ended_by"] == "finished", "the request was done")
    in_order = asked < end["valid_to_seq"] < done["valid_to_seq"]
    expect(in_order, "asked, deleted, done, in this order")
    return [asked, end["valid_to_seq"], done["valid_to_seq"], *_expect_no_config(past, fact)]


def _expect_no_config(past: LakePast, fact: Fact) -> list[int]:
    """The topic's overrides go with it."""
    entity = {"entity_type": "topics", "entity_name": fact["topic"]}
    ends = []
    for row in past.at("config_history", fact["from_ms"], **entity):
        ends.append(past.ended("config_history", fact, **entity, config_key=row["config_key"]))
    expect(all(end["ended_by"] == "deleted" for end in ends), "its overrides went too")
    return [end["valid_to_seq"] for end in ends]


def _reassigned(past: LakePast, fact: Fact) -> list[int]:
    explained = _find_operation(past, fact, "reassignment", {fact["partition"]: fact["replicas"]})
    before, after = (
        past.one_at("topics", ms, topic=fact["topic"])
        for ms in (fact["from_ms"] - 1, fact["to_ms"])
    )
    in_flight = after["adding_replicas"] or after["removing_replicas"]
    expect(not in_flight, "nothing is in flight any more")
    was, moved = (
        list_replicas(topic["replicas"]).get(str(fact["partition"])) for topic in (before, after)
    )
    expect(moved == fact["replicas"], f"it was moved there, not to {moved}")
    # The only witness where the controller was faster than the watcher's read of the request.
    expect(was != moved, "it was moved in this time")
    return explained


def _find_operation(
    past: LakePast, fact: Fact, operation: str, wanted: Mapping[int, list[int] | None]
) -> list[int]:
    """What was asked for, or is only inferred; each row begins and ends in the fact's time."""
    begun = _list_own(past, fact, operation)
    told = {row["partition"]: row["replicas"] for row in begun if row["is_known"]}
    expect({row["topic"] for row in begun if row["is_known"]} <= {fact["topic"]}, "of this topic")
    is_missed = _is_missed(past, fact, begun)
    expect(told == wanted or (is_missed and not told), f"this was under way, not {told}")
    for row in begun:
        is_asked = fact["by"] == "znode" and not is_missed
        expect(row["is_inferred"] != is_asked or not row["is_known"], "it was asked for, or not")
    names = ("operation", "topic", "partition", "life")
    ends = [
        past.ended("admin_operations", fact, **{name: row[name] for name in names}) for row in begun
    ]
    expect(all(end["ended_by"] == "finished" for end in ends), "all of it was done")
    return [row["valid_from_seq"] for row in begun] + [end["valid_to_seq"] for end in ends]


def _list_own(past: LakePast, fact: Fact, operation: str) -> list[Row]:
    """A request that went unread may be seen late: it is of the act whose effect came next."""
    begun = past.list_begun("admin_operations", fact, is_birth=True, operation=operation)
    return [
        row
        for row in begun
        if row["is_known"] or fact["from_ms"] <= past.find_effect_ms(row) <= fact["to_ms"]
    ]


def _is_missed(past: LakePast, fact: Fact, begun: list[Row]) -> bool:
    """The controller was faster than the watcher's read: of the request, or of the move."""
    written = past.list_begun("topics", fact, topic=fact["topic"])
    unread = [row["fidelity"] == "superseded" for row in begun if not row["is_known"]]
    is_unseen = fact["by"] == "api" and any(row["unseen_versions"] for row in written)
    return is_unseen or (bool(unread) and all(unread))


def _preferred_elected(past: LakePast, fact: Fact) -> list[int]:
    topic = past.one_at("topics", fact["to_ms"], topic=fact["topic"])
    replicas = list_replicas(topic["replicas"])
    for partition in fact["partitions"]:
        state = past.one_at(
            "partition_state", fact["to_ms"], topic=fact["topic"], partition=partition
        )
        expect(state["leader"] == replicas[str(partition)][0], "the first replica leads")
    if fact["by"] == "api":
        return []
    return _find_operation(
        past, fact, "preferred_election", dict.fromkeys(fact["partitions"], None)
    )


def _config_altered(past: LakePast, fact: Fact) -> list[int]:
    before = find_config(past, fact, fact["from_ms"] - 1)
    # The end of a znode is seen late.
    after = find_config(past, fact, fact["to_ms"] + LATE_MS * (None in fact["changes"].values()))
    altered = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    expect(altered == fact["changes"].keys(), f"these were altered, not {altered}")
    explained = []
    for key, value in fact["changes"].items():
        was, now = before.get(key), after.get(key)
        expect((now is None) == (value is None), f"{key} is set, or gone")
        if now is not None:
            expect(_is_timely(fact, now["valid_from_at"]), f"{key} was set in its time")
            is_secret = key.endswith(".password")
            expect(now["is_redacted"] == is_secret, f"{key} is shown, or withheld")
            expect(is_secret or now["value"] == value, f"{key} is {value}")
            explained += [now["valid_from_seq"]] if now["is_birth"] else []
        if was is not None:
            expect(_is_timely(fact, was["valid_to_at"]), f"{key} was another in its time")
            explained += [was["valid_to_seq"]] if was["ended_by"] in GONE else []
    return explained


def _is_timely(fact: Fact, ms: int) -> bool:
    return bool(fact["from_ms"] <= ms <= fact["to_ms"] + LATE_MS)


ADMIN_ACTS: Mapping[str, Callable[[LakePast, Fact], list[int]]] = {
    "topic_created": _topic_created,
    "partitions_added": _partitions_added,
    "topic_deleted": _topic_deleted,
    "reassigned": _reassigned,
    "preferred_elected": _preferred_elected,
    "config_altered": _config_altered,
}
