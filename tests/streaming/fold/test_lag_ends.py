"""log_ends: what rounds say, each in a row of its own, unless there are too many."""

from __future__ import annotations

from streaming.fold.changes import GroupKey
from streaming.fold.lag.fold import LagFold
from streaming.fold.lag.status import Thresholds
from tests.streaming.fold.lag_log import LagLog, seconds, working


def test_a_row_never_says_what_was_learned_after_it_began() -> None:
    log = LagLog()
    log.topic("t")
    log.at(5).round({"t": 10}, is_base=True)
    log.at(15).round({"t": 20})
    log.at(25).round({"t": 30})
    log.at(35).round()
    row = log.ends()
    assert (row["log_end_offset"], seconds(row["sampled_at"])) == (30, 25)
    assert (seconds(row["confirmed_at"]), seconds(row["valid_from_at"])) == (35, 25)
    assert row["seen_seq"] == log.seq
    log.at(65).round({"t": 40})
    told = [
        (old["log_end_offset"], seconds(old["valid_from_at"]), seconds(old["valid_to_at"]))
        for old in log.ended("log_ends")
    ]
    assert told == [(10, 5, 15), (20, 15, 25), (30, 25, 65)]


def test_where_a_round_moves_too_many_logs_rows_go_on_within_their_minute() -> None:
    log = LagLog(LagFold("c", Thresholds(points_per_round=1)))
    log.round({"t": 10, "u": 10}, is_base=True)
    log.at(10).round({"t": 20})
    log.at(20).round({"t": 30, "u": 30})
    log.at(30).round({"t": 30, "u": 35})
    log.at(40).round({"t": 40, "u": 40})
    row = log.ends("u")
    assert (row["log_end_offset"], row["log_end_offset_last"]) == (35, 40)
    assert (seconds(row["valid_from_at"]), seconds(row["sampled_at_last"])) == (30, 40)
    assert (seconds(row["confirmed_at"]), seconds(row["confirmed_at_last"])) == (30, 40)
    told = [
        (old["topic"], old["log_end_offset"], old["log_end_offset_last"])
        for old in log.ended("log_ends")
    ]
    # t at 20 s goes on from 20; at 30 s only u moves, and begins a row.
    assert told == [("t", 10, 10), ("u", 10, 30)]
    assert (log.ends()["log_end_offset"], log.ends()["log_end_offset_last"]) == (20, 40)
    log.at(60).round({"t": 50, "u": 50})
    assert [log.ends(topic)["log_end_offset"] for topic in ("t", "u")] == [50, 50]


def test_a_log_that_went_back_is_another_row_in_any_case() -> None:
    log = LagLog(LagFold("c", Thresholds(points_per_round=0)))
    log.round({"t": 100}, is_base=True)
    log.at(10).round({"t": 40})
    assert [row["log_end_offset_last"] for row in log.ended("log_ends")] == [100]


def test_a_moving_log_start_does_not_make_the_end_look_new() -> None:
    log = LagLog()
    log.topic("t")
    log.at(0).round({"t": 10}, is_base=True)
    log.at(10).round({"t": 10}, start=5)
    log.at(100).round({"t": 10}, start=7)
    log.at(200).round({"t": 10}, start=7, broker_id=2, brokers=(2,))
    log.at(300).round(errors={"t": "LEADER_NOT_AVAILABLE"})
    log.at(400).round({"t": 10}, start=7)
    assert seconds(log.ends()["sampled_at"]) == 0
    assert [row["log_end_offset"] for row in log.ended("log_ends")] == [10, 10, 10, 10, None]


def test_a_smaller_end_is_another_row_at_once() -> None:
    log = LagLog()
    log.round({"t": 100}, is_base=True)
    log.at(10).round({"t": 40})
    assert [row["log_end_offset"] for row in log.ended("log_ends")] == [100]


def test_only_brokers_that_answered_confirm() -> None:
    log = LagLog()
    log.round({"t": 100}, is_base=True)
    log.at(10).round(brokers=(2, 3))
    assert seconds(log.ends()["confirmed_at"]) == 0
    log.at(20).round(brokers=(1,))
    assert seconds(log.ends()["confirmed_at"]) == 20


def test_a_base_ends_what_it_does_not_tell() -> None:
    log = LagLog()
    log.round({"t": 1, "u": 2}, is_base=True)
    log.at(10).round({"u": 2}, is_base=True)
    (row,) = log.ended("log_ends")
    assert (row["topic"], row["ended_by"]) == ("t", "resync")
    assert log.ends("u")["valid_from_seq"] == 1


def test_a_base_says_nothing_of_a_broker_that_has_not_answered_yet() -> None:
    log = working()
    log.round({"u": 7, "v": 8}, broker_id=2, brokers=(1, 2))
    log.at(10).round({"t": 100}, failed=(2,), is_base=True)
    assert log.ended("log_ends") == []
    assert seconds(log.ends("u")["confirmed_at"]) == 0
    log.at(11).round({"u": 7}, broker_id=2, brokers=(2,))
    assert seconds(log.ends("u")["confirmed_at"]) == 11
    # It told everything, and this was no part of it.
    assert [(row["topic"], row["ended_by"]) for row in log.ended("log_ends")] == [("v", "resync")]


def test_a_base_leaves_the_lag_of_a_slow_broker_alone() -> None:
    log = working()
    log.at(10).round({"t": 110})
    log.at(20).round(brokers=(), failed=(1,), is_base=True)
    assert (log.lag()["lag"], log.lag()["reason"], seconds(log.lag()["sampled_at"])) == (
        10,
        None,
        10,
    )
    log.at(21).round({"t": 110})
    assert (log.lag()["lag"], seconds(log.lag()["sampled_at"])) == (10, 21)


def test_a_base_ends_what_no_broker_leads_that_was_asked() -> None:
    log = working()
    log.round({"u": 7}, broker_id=2, brokers=(1, 2))
    log.at(10).round({"t": 100}, is_base=True)
    assert [(row["topic"], row["ended_by"]) for row in log.ended("log_ends")] == [("u", "resync")]


def test_an_error_takes_the_offsets_away() -> None:
    log = LagLog()
    log.round({"t": 1}, is_base=True)
    log.at(10).round(errors={"t": "NOT_LEADER_FOR_PARTITION"})
    row = log.ends()
    assert (row["log_end_offset"], row["error"]) == (None, "NOT_LEADER_FOR_PARTITION")
    log.at(20).round(errors={"t": "UNKNOWN_TOPIC_OR_PART"})
    assert [row["ended_by"] for row in log.ended("log_ends")] == ["changed", "deleted"]


def test_wild_numbers_are_an_error() -> None:
    log = LagLog()
    log.round({"t": 2**64}, is_base=True)
    assert (log.ends()["error"], log.ends()["log_end_offset"]) == ("OUT_OF_RANGE", None)


def test_a_topic_created_again_is_another_row_and_another_curve() -> None:
    log = LagLog()
    log.topic("t")
    log.round({"t": 5000}, is_base=True)
    first = log.ends()["incarnation"]
    asked = log.seq
    log.drop_topic("t")
    log.topic("t")
    # Asked before, told after: it speaks of the former topic.
    log.at(10).round({"t": 5100}, after=asked)
    assert log.open["log_ends"] == [] or log.ended("log_ends")
    log.take()
    assert log.open["log_ends"] == []
    assert [row["ended_by"] for row in log.ended("log_ends")] == ["recreated"]
    log.at(20).round({"t": 3})
    assert log.ends()["incarnation"] > first


def test_a_topic_that_is_gone_ends_its_rows() -> None:
    log = LagLog()
    log.topic("t")
    log.round({"t": 5}, is_base=True)
    log.drop_topic("t")
    log.at(10).round()
    assert [row["ended_by"] for row in log.ended("log_ends")] == ["deleted"]
    log.take()
    assert log.open["log_ends"] == []


def test_rows_change_only_at_rounds() -> None:
    log = LagLog()
    log.round({"t": 5}, is_base=True)
    log.take()
    log.topic("u")
    log.join("g")
    log.claim("g")
    assert log.fold.take() == {}
    assert log.cluster_state.members.keys() == {GroupKey("zookeeper", "g")}


def test_a_marker_moves_also_while_nothing_is_sampled() -> None:
    log = LagLog()
    log.topic("t")
    log.offset("g", 5)
    taken = log.fold.take(idle=True)
    assert {table: ([*one.open_rows], one.seq) for table, one in taken.items()} == {
        "consumption_pauses": ([], 2),
        "offset_lag": ([], 2),
        "log_ends": ([], 2),
    }
    assert log.fold.take(idle=True) == {}
