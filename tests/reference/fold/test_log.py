"""Frames, closures, gaps, and which records are kept."""

from __future__ import annotations

import pytest

from tests.reference.fold.script import Script
from zklake.events.envelope import Gap

STATE = ("partition_state", "/brokers/topics/t/partitions/0/state")
OTHER = ("partition_state", "/brokers/topics/t/partitions/1/state")
ISR = '{"version":1,"leader":1,"leader_epoch":2,"controller_epoch":3,"isr":[1,2]}'
ENDS = ("valid_to_seq", "valid_to_zxid", "valid_to_at", "valid_to_at_min", "ended_by")


def stand() -> Script:
    """Two states: events 1 and 2."""
    log = Script()
    for state in (STATE, OTHER):
        log.say("create", *state, data=ISR, czxid=1, version=0)
    return log


def test_a_frame_without_a_model_ends_what_it_did_not_show() -> None:
    log = stand().gap("3", from_ms=2222).frame("3")
    log.say("read", *OTHER, data=ISR, czxid=1, version=0).in_sync("3", "none")
    assert log.rows("partition_state", *ENDS) == [
        (6, None, 6000, 2222, "resync"),
        (None, None, None, None, None),
    ]
    log.say("read", *STATE, data=ISR, czxid=1, version=0)
    assert log.rows("partition_state", "partition", "unseen_versions") == [(0, 0), (0, 0), (1, 0)]


@pytest.mark.parametrize("base", ["model", None])
def test_a_frame_on_the_model_ends_nothing(base: str | None) -> None:
    log = stand().frame("3").in_sync("3", base)
    assert log.rows("partition_state", "is_open") == [True, True]


def test_a_frame_whose_begin_was_not_seen_ends_nothing() -> None:
    log = stand().frame("other").in_sync("3", "none")
    assert log.rows("partition_state", "is_open") == [True, True]


def test_the_newest_begin_of_a_frame_counts() -> None:
    log = stand().frame("3").say("read", *OTHER, data=ISR, czxid=1, version=0)
    log.frame("3").in_sync("3", "none")
    assert log.rows("partition_state", "ended_by") == ["resync", "resync"]


def test_after_a_hole_the_next_frame_ends_what_it_did_not_show() -> None:
    log = stand().hole(2).frame("5").say("read", *OTHER, data=ISR, czxid=1, version=0).in_sync("5")
    assert log.rows("partition_state", *ENDS) == [
        (7, None, 7000, None, "resync"),
        (None, None, None, None, None),
    ]
    log.frame("8").in_sync("8")
    assert log.rows("partition_state", "is_open") == [False, True]


def test_a_hole_inside_a_frame_is_left_to_the_next_one() -> None:
    log = stand().frame("3").hole(1).in_sync("3")
    assert log.rows("partition_state", "is_open") == [True, True]
    log.frame("6").in_sync("6")
    assert log.rows("partition_state", "valid_to_seq") == [7, 7]


def test_an_inferred_end_lies_in_the_newest_gap() -> None:
    log = stand().gap("3", from_ms=2100).gap("4", from_ms=2200)
    log.say("delete", *STATE, origin="resync").say("delete", *OTHER).in_sync("3")
    assert log.rows("partition_state", "valid_to_at_min", "ended_by") == [
        (2200, "deleted"),
        (None, "deleted"),
    ]


def test_outside_a_gap_an_inferred_end_has_no_lower_bound() -> None:
    log = stand().gap("3").say("delete", *STATE, origin="resync").in_sync("3")
    log.gap("6", lives=2, from_ms=1).say("delete", *OTHER, origin="resync")
    assert log.rows("partition_state", "valid_to_at_min") == [None, None]


def test_a_gap_lasts_until_in_sync() -> None:
    log = Script().gap("1", from_ms=400, from_zxid=9, coalescing=True)
    log.gap("1", "disconnected", from_ms=800).gap("1", path="/consumers", lives=2)
    row = {
        "cluster": "c",
        "gap_id": "1",
        "reason": "restart",
        "coalescing": True,
        "path": None,
        "lives": 2,
        "missed": None,
        "seen_seq": 3,
        "valid_from_seq": 1,
        "valid_from_zxid": 9,
        "valid_from_at": 400,
        "valid_to_seq": None,
        "valid_to_zxid": None,
        "valid_to_at": None,
        "valid_to_at_min": None,
        "is_clamped": False,
        "is_open": True,
        "ended_by": None,
        "closed_on": None,
    }
    assert log.rows("log_gaps") == [row]
    log.in_sync("1")
    closed = {"valid_to_seq": 4, "valid_to_at": 4000, "is_open": False, "ended_by": "in_sync"}
    assert log.rows("log_gaps") == [row | closed | {"closed_on": "1970-01-01"}]


def test_when_a_gap_began_may_be_unknown() -> None:
    log = Script().gap("1", "first_start").gap("2", from_ms=9000).in_sync("1")
    assert log.rows("log_gaps", "valid_from_at", "valid_to_at", "is_clamped") == [
        (None, 3000, False),
        (9000, 9000, True),
    ]


def test_lives_of_no_open_gap_are_a_moment() -> None:
    log = Script().gap("1", "coalesced", "/x", lives=3, coalescing=True)
    columns = ("path", "lives", "valid_from_at", "valid_from_seq", "valid_to_seq", "ended_by")
    assert log.rows("log_gaps", *columns) == [("/x", 3, 1000, 1, 1, "in_sync")]


def test_a_gap_that_says_nothing_is_no_row() -> None:
    log = Script().gap("1", path="/x").say("gap")
    assert log.rows("log_gaps") == []


def test_holes_and_repeats_are_moments() -> None:
    log = Script().say("create", *STATE, data=ISR).hole(3)
    log.say("seq_repeat", None, None, seq=4, gap=Gap("repeat", "seq_repeat"))
    columns = ("gap_id", "reason", "missed", "lives", "path", "valid_from_seq", "valid_from_at")
    assert log.rows("log_gaps", *columns) == [
        ("hole-4", "seq_hole", 3, 0, None, 4, 1000),
        ("repeat", "seq_repeat", None, 0, None, 4, 4000),
    ]
    assert log.rows("log_gaps", "valid_to_seq", "valid_to_at") == [(4, 4000), (4, 4000)]


def test_of_heartbeats_the_first_of_each_minute_is_kept() -> None:
    log = Script().beat(59_000).beat(59_999).say("log_ends", at=60_000).beat(60_000).beat(61_000)
    log.hole(2).beat(120_000)
    assert log.rows("znode_events", "seq") == [1, 3, 4, 7, 8]
