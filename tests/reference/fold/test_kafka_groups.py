"""Kafka-stored groups: what one sample after the other makes of their rows."""

from __future__ import annotations

from typing import Any

from tests.reference.fold.script import Script
from zklake.events.samples import (
    Commit,
    GroupCommits,
    GroupReading,
    GroupState,
    LogEnds,
    Member,
    Round,
    TopicPartitions,
)

NOW = ("valid_from_seq", "valid_to_seq", "ended_by", "seen_seq")


def commit(log: Script, offset: int | None, **fields: Any) -> Script:
    said = Commit("g", "t", 0, offset, tombstone=offset is None, **fields)
    return log.say("group_commit", path=None, group_commit=GroupCommits((said,)))


def group(log: Script, *members: Member, **fields: Any) -> Script:
    said = GroupState("g", **{"state": "Stable", "members": members, **fields})
    return log.say("group_state", path=None, group_state=said)


def member(name: str, *partitions: int, **fields: Any) -> Member:
    return Member(name, assignment=(TopicPartitions("t", partitions),), **fields)


def end_round(log: Script, since_seq: int, **fields: Any) -> Script:
    groups = GroupReading(complete_since_seq=since_seq, **fields)
    return log.say("log_ends", path=None, log_ends=LogEnds(round=Round(0, groups=groups)))


def test_a_commit_of_the_same_offset_is_only_seen() -> None:
    log = commit(commit(Script(), 5, commit_at_ms=900), 5, commit_at_ms=1800)
    commit(commit(log, 7), None)
    assert log.rows("consumer_offsets", "committed_offset", *NOW) == [
        (5, 1, 3, "changed", 2),
        (7, 3, 4, "deleted", 3),
    ]
    assert log.rows("consumer_offsets", "valid_from_at", "valid_to_at") == [
        (900, 3000),
        (3000, 4000),
    ]


def test_who_is_no_longer_named_has_left() -> None:
    log = group(Script(), member("a", 0), member("b", 1), generation=1)
    group(log, member("a", 0, 1), generation=2, at_ms=1500)
    group(log, state="Empty", members=None)
    assert log.rows("consumer_membership", "member_id", "generation", *NOW) == [
        ("a", 1, 1, 3, "deleted", 2),
        ("b", 1, 1, 2, "deleted", 1),
    ]
    assert log.rows("ownership_history", "partition", "owner", *NOW) == [
        (0, "a", 1, 3, "deleted", 2),
        (1, "b", 1, 2, "changed", 1),
        (1, "a", 2, 3, "deleted", 2),
    ]
    assert log.rows("ownership_history", "valid_to_at") == [3000, 1500, 3000]


def test_members_that_did_not_fit_are_not_known_to_have_left() -> None:
    log = group(group(Script(), member("a", 0)), members=None, member_count=9)
    assert log.rows("consumer_membership", "ended_by") == ["unreadable"]
    assert log.rows("ownership_history", "ended_by") == ["unreadable"]


def test_only_a_round_that_vouches_closes_what_was_said_before() -> None:
    log = group(commit(Script(), 5), member("a", 0))
    log.frame("f").in_sync("f", "none")
    end_round(end_round(log, 3, reason="not asked yet"), 3, partitions_behind=1)
    assert log.rows("consumer_offsets", "ended_by") == [None], "no frame of the tree ends it"
    end_round(commit(log, 5), 4)
    assert log.rows("consumer_offsets", *NOW) == [(1, None, None, 7)]
    assert log.rows("consumer_membership", *NOW) == [(2, 8, "resync", 2)]
    assert log.rows("ownership_history", *NOW) == [(2, 8, "resync", 2)]
