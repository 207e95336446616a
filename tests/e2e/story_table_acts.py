"""What an act of a story's truth does, seen in the tables: which rows it begins and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.e2e.lake_past import LATE_MS, Fact, LakePast
from tests.e2e.story_table_admin import ADMIN_ACTS
from tests.reference.past import expect


def _broker_left(past: LakePast, fact: Fact) -> list[int]:
    end = past.ended("broker_membership", fact, broker_id=fact["broker_id"])
    expect(end["ended_by"] == "session_ended", "its session was closed")
    for reign in past.at("controller", fact["from_ms"], controller_id=fact["broker_id"]):
        has_fallen = reign["ended_by"] == "session_ended" and reign["session"] == end["session"]
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


def _member_joined(past: LakePast, fact: Fact) -> list[int]:
    birth = past.began("consumer_membership", fact, **_name_member(fact))
    expect(birth["session"] is not None, "the registration is ephemeral")
    expect(dict(birth["subscription"] or {}) == fact["subscription"], "it subscribed to this")
    return [birth["valid_from_seq"]]


def _member_left(past: LakePast, fact: Fact) -> list[int]:
    end = past.ended("consumer_membership", fact, **_name_member(fact))
    expect(end["ended_by"] == "session_ended", "the registration went with its session")
    for tenure in past.find("ownership_history", session=end["session"]):
        outlives = tenure["is_open"] or tenure["valid_to_at"] > end["valid_to_at"] + LATE_MS
        expect(not outlives, f"what it owned went too: {tenure}")
    return [end["valid_to_seq"]]


def _member_unregistered(past: LakePast, fact: Fact) -> list[int]:
    end = past.ended("consumer_membership", fact, **_name_member(fact))
    expect(end["ended_by"] == "deleted", "it was deleted by itself")
    return [end["valid_to_seq"]]


def _owners_claimed(past: LakePast, fact: Fact) -> list[int]:
    for tenure in _name_tenures(fact):
        row = past.began("ownership_history", fact, **tenure)
        expect(row["owner"] == f"{fact['member_id']}-0", "it owns them now")
    return []


def _owners_lost(past: LakePast, fact: Fact) -> list[int]:
    for tenure in _name_tenures(fact):
        end = past.ended("ownership_history", fact, **tenure, ended_by="session_ended")
        expect(end["owner_member_id"] == fact["member_id"], "they were its own")
    return []


def _name_tenures(fact: Fact) -> list[dict[str, Any]]:
    partitions, of_group = fact["partitions"], {"group_id": fact["group"], "topic": fact["topic"]}
    return [{**of_group, "partition": partition} for partition in partitions]


def _kafka_member_joined(past: LakePast, fact: Fact) -> list[int]:
    birth = past.began("consumer_membership", fact, coordinator="kafka", **_name_member(fact))
    expect(birth["client_id"] == fact["client_id"], "the client is called so")
    expect(dict(birth["subscription"] or {}) == fact["subscription"], "it subscribed to this")
    expect(birth["generation"] > 0 and birth["session"] is None, "Kafka keeps it")
    return [birth["valid_from_seq"]]


def _kafka_member_left(past: LakePast, fact: Fact) -> list[int]:
    end = past.ended("consumer_membership", fact, coordinator="kafka", **_name_member(fact))
    expect(end["ended_by"] == "deleted", "the group no longer names it")
    expect(end["client_id"] == fact["client_id"], "the client is called so")
    group = {"coordinator": "kafka", "group_id": fact["group"]}
    for tenure in past.find("ownership_history", **group, owner_member_id=fact["member_id"]):
        outlives = tenure["is_open"] or tenure["valid_to_at"] > end["valid_to_at"]
        expect(not outlives, f"what it owned went too: {tenure}")
    return [end["valid_to_seq"]]


def _kafka_offsets_committed(past: LakePast, fact: Fact) -> list[int]:
    group = {"coordinator": "kafka", "group_id": fact["group"], "topic": fact["topic"]}
    written = past.list_begun("consumer_offsets", fact, **group)
    offsets = {str(row["partition"]): row["committed_offset"] for row in written}
    expect(offsets == fact["offsets"], f"these were committed, not {offsets}")
    return []


def _offsets_rewound(past: LakePast, fact: Fact) -> list[int]:
    of_group = {"group_id": fact["group"], "topic": fact["topic"]}
    written = past.list_begun("consumer_offsets", fact, **of_group)
    offsets = {str(row["partition"]): row["committed_offset"] for row in written}
    expect(offsets == fact["offsets"], f"these were set, not {offsets}")
    for row in past.at("consumer_offsets", fact["from_ms"] - 1, **of_group):
        was, told = row["committed_offset"], offsets[str(row["partition"])]
        expect(was > told, f"partition {row['partition']} went back from {was}")
    return []


def _name_member(fact: Fact) -> dict[str, str]:
    return {"group_id": fact["group"], "member_id": fact["member_id"]}


ACTS: Mapping[str, Callable[[LakePast, Fact], list[int]]] = {
    "broker_stopped": _broker_left,
    "broker_killed": _broker_left,
    "broker_started": _broker_started,
    "controller_deposed": _controller_deposed,
    **ADMIN_ACTS,
    "member_joined": _member_joined,
    "member_left": _member_left,
    "member_unregistered": _member_unregistered,
    "owners_claimed": _owners_claimed,
    "owners_lost": _owners_lost,
    "offsets_rewound": _offsets_rewound,
    "kafka_member_joined": _kafka_member_joined,
    "kafka_member_left": _kafka_member_left,
    "kafka_offsets_committed": _kafka_offsets_committed,
}
