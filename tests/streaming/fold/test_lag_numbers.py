"""offset_lag: the pairing of commits and log ends, and the numbers made of it."""

from __future__ import annotations

import pytest

from streaming.fold.lag.status import Thresholds
from streaming.fold.row import Row
from tests.streaming.fold.lag_log import LagLog, seconds, working


def tell(row: Row, *names: str) -> tuple[object, ...]:
    return tuple(row[name] for name in names)


def test_a_commit_counts_once_the_log_end_was_asked_for_after_it() -> None:
    log = working()
    asked = log.seq
    # The consumer reads and commits what was produced after the request was sent.
    log.offset("g", 150)
    log.at(10).round({"t": 120}, after=asked)
    assert tell(log.lag(), "committed_offset", "lag", "raw_lag") == (100, 20, 20)
    log.at(20).round({"t": 160})
    assert tell(log.lag(), "committed_offset", "lag", "raw_lag") == (150, 10, 10)


def test_of_many_commits_the_last_before_the_request_counts() -> None:
    log = working()
    for offset in range(101, 130):
        log.offset("g", offset)
    asked = log.seq
    for offset in range(130, 135):
        log.offset("g", offset)
    log.at(10).round({"t": 140}, after=asked)
    assert tell(log.lag(), "committed_offset", "lag") == (129, 11)


def test_a_late_answer_is_not_paired_with_a_newer_commit() -> None:
    log = working()
    asked = log.seq
    log.offset("g", 150)
    log.at(10).round(brokers=(2,))
    log.at(11).round({"t": 130}, after=asked)
    assert tell(log.lag(), "committed_offset", "lag") == (100, 0)
    log.at(20).round({"t": 160})
    assert tell(log.lag(), "committed_offset", "lag") == (150, 10)


def test_lag_is_never_negative_and_the_raw_value_is_kept() -> None:
    log = working()
    log.offset("g", 500)
    log.at(10).round({"t": 120})
    assert tell(log.lag(), "lag", "raw_lag", "lag_seconds") == (0, -380, 0.0)


@pytest.mark.parametrize(
    ("value", "reason"), [("-1", "no_offset"), ("junk", "no_offset"), ("9" * 30, "no_offset")]
)
def test_what_is_not_known_stays_null(value: str, reason: str) -> None:
    log = working()
    log.offset("g", value)
    log.at(10).round({"t": 120})
    row = log.lag()
    assert tell(row, "reason", "lag", "raw_lag", "status", "lag_quality") == (
        reason,
        None,
        None,
        None,
        "unknown",
    )
    assert row["log_end_offset"] == 120


def test_every_reason_why_there_is_no_lag() -> None:
    log = LagLog()
    log.topic("t")
    log.join("g")
    log.claim("g")
    log.round({"t": 10}, is_base=True)
    assert tell(log.lag(), "reason", "committed_offset") == ("no_commit", None)
    log.offset("g", 5, op="create")
    log.at(10).round(errors={"t": "LEADER_NOT_AVAILABLE"})
    assert log.lag()["reason"] == "LEADER_NOT_AVAILABLE"
    log.at(20).round(is_base=True)
    assert log.lag()["reason"] == "no_log_end"
    log.at(30).round({"t": 12})
    assert tell(log.lag(), "reason", "lag") == (None, 7)
    log.drop_topic("t")
    log.at(40).round()
    assert log.lag()["reason"] == "topic_gone"
    log.topic("t")
    log.at(50).round({"t": 3})
    assert tell(log.lag(), "reason", "lag") == ("other_incarnation", None)
    log.offset("g", 1)
    log.at(60).round({"t": 3})
    assert tell(log.lag(), "reason", "lag") == (None, 2)


def test_an_offset_older_than_its_topic_is_known_at_first_sight() -> None:
    log = LagLog()
    log.offset("g", 1_000_000, op="read")
    log.topic("t", op="read")
    log.round({"t": 500}, is_base=True)
    assert tell(log.lag(), "reason", "lag") == ("other_incarnation", None)


def test_a_commit_that_found_no_topic_is_of_the_next_one() -> None:
    log = LagLog()
    log.commit("g", 5)
    log.topic("t", op="read")
    log.round({"t": 8}, is_base=True)
    assert log.lag(coordinator="kafka")["lag"] == 3
    log.drop_topic("t")
    log.topic("t")
    log.at(10).round({"t": 2})
    assert log.lag(coordinator="kafka")["reason"] == "other_incarnation"


def test_of_a_broker_that_does_not_answer_nothing_changes() -> None:
    log = working()
    log.offset("g", 50)
    log.at(100).round(brokers=(2,))
    assert tell(log.lag(), "committed_offset", "lag") == (100, 0)
    assert seconds(log.lag()["sampled_at"]) == 0
    log.at(110).round(brokers=(1,))
    assert tell(log.lag(), "committed_offset", "lag") == (50, 50)


def test_an_idle_producer_does_not_make_seconds_grow() -> None:
    log = working()
    log.at(60).round({"t": 200})
    log.at(120).round({"t": 300})
    # From 100, last seen at 0 s, to 300, seen at 120 s.
    expected = (120.0, 60.0, "interpolated")
    assert tell(log.lag(), "lag_seconds", "lag_seconds_error", "lag_quality") == expected
    for minute in range(3, 30):
        log.at(60 * minute).round(start=minute)
        assert log.lag()["lag_seconds"] == 120.0
    log.offset("g", 300)
    log.at(1810).round()
    assert tell(log.lag(), "lag_seconds", "lag_quality") == (0.0, "exact")


def test_the_second_end_tells_the_time() -> None:
    log = working()
    log.at(10).round({"t": 110})
    known = (10.0, 10.0, "interpolated")
    assert tell(log.lag(), "lag_seconds", "lag_seconds_error", "lag_quality") == known
    log.at(20).round({"t": 120})
    # From 100, last seen at 0 s, to 120, seen at 20 s, by way of 110.
    known = (20.0, 10.0, "interpolated")
    assert tell(log.lag(), "lag_seconds", "lag_seconds_error", "lag_quality") == known
    log.at(30).round({"t": 130})
    # Of a minute only the last stays: 110 is no longer known, nor will be 120.
    assert tell(log.lag(), "lag_seconds", "lag_seconds_error") == (30.0, 20.0)


def test_a_first_sample_tells_no_time() -> None:
    log = LagLog()
    log.offset("g", 5, op="create")
    log.round({"t": 10}, is_base=True)
    assert tell(log.lag(), "lag", "lag_seconds", "lag_quality") == (5, None, "unknown")


def test_pace_and_catching_up() -> None:
    log = working()
    log.at(60).round({"t": 700})
    assert tell(log.lag(), "lag", "velocity", "catch_up_seconds") == (600, 10.0, None)
    log.offset("g", 400)
    log.at(120).round()
    assert tell(log.lag(), "lag", "velocity", "catch_up_seconds") == (300, -5.0, 60.0)


def test_what_is_at_risk_and_what_is_lost() -> None:
    log = working()
    log.at(60).round({"t": 1000})
    log.at(120).round({"t": 1000}, start=60)
    row = log.lag()
    # The log start comes nearer by 1 record a second, and has 40 to go.
    assert (row["lost_records"], seconds(row["loss_at"])) == (0, 160)
    assert row["retention_share"] == pytest.approx(900 / 940)
    log.at(180).round({"t": 1000}, start=400)
    assert tell(log.lag(), "lost_records", "loss_at") == (300, None)


def test_a_group_that_commits_to_both_shows_both() -> None:
    log = working()
    log.commit("g", 130)
    log.at(10).round({"t": 150})
    assert tell(log.lag(), "lag", "other_offset", "divergence") == (50, 130, 30)
    mine = log.lag(coordinator="kafka")
    assert tell(mine, "lag", "other_offset", "divergence") == (20, 100, 30)
    log.commit("g", None, tombstone=True)
    log.at(20).round()
    log.at(30).round()
    assert tell(log.lag(), "other_offset", "divergence") == (None, None)


def test_a_row_never_says_what_was_learned_after_it_began() -> None:
    """The first finding: at 10:36:28 the row said what was committed at 10:36:54."""
    log = working()
    said = []
    for tick in range(1, 7):
        log.at(10 * tick - 3).offset("g", 100 + 3 * tick)
        log.at(10 * tick).round({"t": 100 + 10 * tick})
        said.append(tell(log.lag(), "lag", "committed_offset", "log_end_offset"))
        assert log.lag()["committed_at"] <= log.lag()["valid_from_at"]
    assert said == [(7 * tick, 100 + 3 * tick, 100 + 10 * tick) for tick in range(1, 7)]
    rows = [*log.ended(), log.lag()]
    assert [tell(row, "lag", "committed_offset", "log_end_offset") for row in rows[1:]] == said
    assert [seconds(row["valid_from_at"]) for row in rows] == [0, 10, 20, 30, 40, 50, 60]
    alike = ("lag_min", "lag_max", "lag_last")
    assert all({row["lag"]} == {row[name] for name in alike} for row in rows)


def test_where_a_round_changes_too_much_rows_go_on_with_least_most_and_last() -> None:
    log = working(Thresholds(points_per_round=0))
    told = ((100, 214), (101, 294), (160, 312), (195, 312), (200, 330))
    for tick, (committed, end) in enumerate(told, 1):
        log.at(10 * tick - 3).offset("g", committed)
        log.at(10 * tick).round({"t": end})
    row = log.lag()
    began = tell(row, "lag", "committed_offset", "log_end_offset", "valid_from_seq")
    assert began[:3] == (0, 100, 100)
    assert tell(row, "lag_min", "lag_max", "lag_last") == (0, 193, 130)
    assert tell(row, "committed_offset_last", "log_end_offset_last", "points") == (200, 330, 6)
    assert row["lag_mean"] is None
    assert log.ended() == []
    log.at(60).round({"t": 331})
    (old,) = log.ended()
    assert tell(old, "lag", "lag_max", "points") == (0, 193, 6)
    assert old["lag_mean"] == pytest.approx(
        sum(10 * lag for lag in (0, 114, 193, 152, 117, 130)) / 60
    )


def test_each_round_a_row_and_none_for_nothing() -> None:
    log = working()
    for tick in range(1, 13):
        log.at(10 * tick).round({"t": 100 + tick})
    assert len(log.ended()) == 12
    log.offset("g", 112)
    log.at(125).round()
    log.at(180).round()
    count = len(log.ended())
    for tick in range(1, 600):
        log.at(180 + 10 * tick).round()
    assert len(log.ended()) == count
    assert seconds(log.lag()["sampled_at"]) == 6170


def test_a_subject_ends_with_its_commit_and_owner() -> None:
    log = working()
    log.say("delete", path="/consumers/g/offsets/t/0", kind="offset")
    log.at(10).round()
    assert log.lag()["committed_offset"] is None
    log.release("g")
    log.at(20).round()
    assert log.ended()[-1]["ended_by"] == "deleted"
    assert log.open["offset_lag"] == []


def test_a_frame_that_does_not_meet_it_ends_it() -> None:
    log = LagLog()
    log.offset("g", 5, op="create")
    log.round({"t": 10}, is_base=True)
    log.in_sync(begin_seq=log.seq)
    log.at(10).round()
    assert log.ended()[-1]["ended_by"] == "resync"


def test_kafka_commits_not_said_since_everything_was_said_are_gone() -> None:
    log = LagLog()
    log.commit("g", 5)
    log.round({"t": 10}, is_base=True)
    assert log.lag(coordinator="kafka")["lag"] == 5
    since = log.seq
    log.commit("h", 5)
    log.at(10).round(complete_since=since)
    assert [(r["group_id"], r["ended_by"]) for r in log.ended()] == [("g", "resync")]
    log.at(20).round(complete_since=since)
    assert [row["group_id"] for row in log.open["offset_lag"]] == ["h"]


def test_while_the_watcher_is_blind_nothing_is_said_of_zookeeper_groups() -> None:
    log = working()
    log.commit("k", 5)
    log.at(10).round()
    log.gap()
    log.release("g")
    log.at(100).round({"t": 500})
    assert tell(log.lag(), "lag", "owner") == (0, "m-0")
    assert log.lag("k", "kafka")["lag"] == 495
    log.in_sync()
    log.at(110).round()
    assert tell(log.lag(), "lag", "owner") == (400, None)
