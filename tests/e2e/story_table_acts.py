"""What an act of a story's truth does, seen in the tables: which rows it begins and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.e2e.lake_past import LATE_MS, Fact, LakePast
from tests.e2e.story_table_states import list_replicas
from tests.reference.past import expect


def _broker_left(past: LakePast, fact: Fact) -> list[int]:
    end = past.ended("broker_membership", fact, broker_id=fact["broker_id"])
    expect(end["ended_by"] == "session_closed", "its session was closed")
    for reign in past.at("controller", fact["from_ms"], controller_id=fact["broker_id"]):
        has_fallen = reign["ended_by"] == "session_closed" and reign["session"] == end["session"]
        expect(has_fallen, "it no longer reigns: one session, one end")
    return [end["valid_to_seq"]]


def _broker_started(past: LakePast, fact: Fact) -> list[int]:
    birth = past.began("broker_membership", fact, broker_id=fact["broker_id"])
    lives = past.find("broker_membership", broker_id=fact["broker_id"], is_birth=True)
    czxids = [row["czxid"] for row in lives]
    expect(sorted(set(czxids)) == czxids, f"every life has a later czxid: {czxids}")
    return [birth["valid_from_seq"]]


def _controller_deposed(past: LakePast, fact: Fact) -> list[int]:
    fall = past.ended("controller", fact, controller_id=fact["controller_id"])
    expect(fall["ended_by"] == "deleted", "deleted by hand")
    later = [r for r in past.find("controller") if r["valid_from_seq"] >= fall["valid_to_seq"]]
    expect(len(later) > 1 and later[0]["controller_id"] is None, "then nobody reigned")
    rise = later[1]
    is_timely = fact["from_ms"] <= rise["valid_from_at"] <= fact["to_ms"]
    expect(is_timely and rise["controller_id"] is not None, "then one was elected")
    expect(rise["controller_epoch"] == fall["controller_epoch"] + 1, "the epoch moved by one")
    return []


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
    done = past.ended("admin_operations", fact, life=asked)["valid_to_seq"]
    expect(asked < end["valid_to_seq"] < done, "asked, deleted, done, in this order")
    return [asked, end["valid_to_seq"], done]


def _reassigned(past: LakePast, fact: Fact) -> list[int]:
    wanted = {name: fact[name] for name in ("topic", "partition", "replicas")}
    explained = _find_request(past, fact, "reassignment", [wanted])
    topic = past.one_at("topics", fact["to_ms"], topic=fact["topic"])
    in_flight = topic["adding_replicas"] or topic["removing_replicas"]
    expect(not in_flight, "nothing is in flight any more")
    moved = list_replicas(topic["replicas"]).get(str(fact["partition"]))
    expect(moved == fact["replicas"], f"it was moved there, not to {moved}")
    return explained


def _find_request(past: LakePast, fact: Fact, operation: str, wanted: list[Fact]) -> list[int]:
    asked = past.began("admin_operations", fact, operation=operation)
    done = past.ended("admin_operations", fact, life=asked["life"])
    expect(done["ended_by"] == "deleted", "the request was done")
    # The controller may be faster than the watcher's read.
    is_seen = asked["is_known"] or asked["fidelity"] != "superseded"
    expect(not is_seen or asked["partitions"] == wanted, "this was asked, and nothing else")
    return [asked["valid_from_seq"], done["valid_to_seq"]]


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
    asked = [
        {"topic": fact["topic"], "partition": partition, "replicas": None}
        for partition in fact["partitions"]
    ]
    return _find_request(past, fact, "preferred_election", asked)


def _member_joined(past: LakePast, fact: Fact) -> list[int]:
    birth = past.began("consumer_membership", fact, **_name_member(fact))
    expect(birth["session"] is not None, "the registration is ephemeral")
    expect(dict(birth["subscription"] or {}) == fact["subscription"], "it subscribed to this")
    return [birth["valid_from_seq"]]


def _member_left(past: LakePast, fact: Fact) -> list[int]:
    end = past.ended("consumer_membership", fact, **_name_member(fact))
    expect(end["ended_by"] == "session_closed", "the registration went with its session")
    for tenure in past.find("ownership_history", session=end["session"]):
        outlives = tenure["is_open"] or tenure["valid_to_at"] > end["valid_to_at"] + LATE_MS
        expect(not outlives, f"what it owned went too: {tenure}")
    return [end["valid_to_seq"]]


def _name_member(fact: Fact) -> dict[str, str]:
    return {"group_id": fact["group"], "member_id": fact["member_id"]}


ACTS: Mapping[str, Callable[[LakePast, Fact], list[int]]] = {
    "broker_stopped": _broker_left,
    "broker_killed": _broker_left,
    "broker_started": _broker_started,
    "controller_deposed": _controller_deposed,
    "topic_created": _topic_created,
    "partitions_added": _partitions_added,
    "topic_deleted": _topic_deleted,
    "reassigned": _reassigned,
    "preferred_elected": _preferred_elected,
    "member_joined": _member_joined,
    "member_left": _member_left,
}
