"""Each status: what begins it, since when, and what ends it (docs/status.md)."""

from __future__ import annotations

from tests.streaming.fold.lag_log import LagLog, seconds, working

DAY = 86_400


def status(log: LagLog, group: str = "g", coordinator: str = "zookeeper") -> tuple[object, ...]:
    row = log.lag(group, coordinator)
    return row["status"], seconds(row["status_since"])


def test_ok_since_it_became_so() -> None:
    log = working()
    log.at(10).round({"t": 110})
    assert status(log) == ("OK", 0)
    log.at(100).round()
    assert status(log) == ("OK", 0)


def test_stalled_an_owner_that_does_not_move() -> None:
    log = working()
    log.at(10).round({"t": 110})
    log.at(189).round()
    assert status(log) == ("OK", 0)
    log.at(190).round()
    assert status(log) == ("STALLED", 10)
    log.offset("g", 105)
    log.at(200).round()
    assert status(log) == ("OK", 200)


def test_stalled_counts_from_the_last_commit_that_raised_the_offset() -> None:
    log = working()
    log.at(10).round({"t": 110})
    log.at(100).offset("g", 105)
    # Written again, but not raised.
    log.at(200).offset("g", 105)
    log.at(279).round()
    assert status(log) == ("OK", 0)
    log.at(280).round()
    assert status(log) == ("STALLED", 100)


def test_a_brokers_hiccup_does_not_restart_the_clock() -> None:
    log = working()
    log.at(10).round({"t": 110})
    log.at(100).round(errors={"t": "LEADER_NOT_AVAILABLE"})
    assert status(log) == (None, None)
    log.at(190).round({"t": 110})
    assert status(log) == ("STALLED", 10)


def test_stopped_when_the_last_member_left_and_ended_by_its_return() -> None:
    log = working()
    log.at(10).round({"t": 110})
    log.at(15).release("g")
    log.at(15).leave("g")
    log.at(20).round()
    assert status(log) == ("STOPPED", 15)
    log.at(30).join("g")
    log.at(30).claim("g")
    log.at(40).round()
    assert status(log) == ("OK", 40)


def test_a_group_that_left_nothing_behind_has_not_stopped() -> None:
    log = working()
    log.at(15).release("g")
    log.leave("g")
    log.at(20).round()
    assert status(log) == ("OK", 0)
    log.at(30).round({"t": 120})
    assert status(log) == ("STOPPED", 30)


def test_a_group_in_which_nobody_was_seen_stops_by_silence() -> None:
    log = LagLog()
    log.commit("k", 5)
    log.round({"t": 10}, is_base=True)
    assert status(log, "k", "kafka") == ("OK", 0)
    log.at(100).commit("k", 6)
    log.at(279).round()
    assert status(log, "k", "kafka") == ("OK", 0)
    log.at(280).round()
    assert status(log, "k", "kafka") == ("STOPPED", 100)
    log.at(290).commit("k", 7)
    log.at(300).round()
    assert status(log, "k", "kafka") == ("OK", 300)


def test_a_kafka_group_with_members_is_live() -> None:
    log = LagLog()
    log.kafka("k", "a", "b")
    log.commit("k", 5)
    log.round({"t": 10}, is_base=True)
    assert log.lag("k", "kafka")["owner"] == "a"
    log.at(10).kafka("k")
    log.at(20).round()
    assert status(log, "k", "kafka") == ("STOPPED", 10)


def test_unowned_a_live_group_with_nobody_on_it() -> None:
    log = working()
    log.at(15).release("g")
    log.at(20).round()
    assert status(log) == ("OK", 0)
    log.at(25).round()
    assert status(log) == ("UNOWNED", 15)
    log.at(26).claim("g", owner="m-1")
    log.at(30).round()
    assert status(log) == ("OK", 30)
    assert log.lag()["owner"] == "m-1"


def test_a_topic_that_is_gone_cannot_be_owned() -> None:
    log = working()
    log.at(15).release("g")
    log.drop_topic("t")
    log.at(100).round()
    assert (log.lag()["reason"], log.lag()["status"]) == ("topic_gone", None)


def test_rewind_until_the_old_offset_is_reached_again() -> None:
    log = working()
    log.at(5).offset("g", 40)
    log.at(6).offset("g", 20)
    log.at(10).round()
    assert status(log) == ("REWIND", 5)
    log.at(11).offset("g", 99)
    log.at(20).round()
    assert status(log) == ("REWIND", 5)
    log.at(21).offset("g", 100)
    log.at(30).round()
    assert status(log) == ("OK", 30)


def test_a_topic_created_again_is_no_rewind() -> None:
    log = working()
    log.drop_topic("t")
    log.topic("t")
    log.offset("g", 3)
    log.at(10).round({"t": 5})
    assert (log.lag()["status"], log.lag()["lag"]) == ("OK", 2)


def test_warn_lag_that_only_grows() -> None:
    log = working()
    for tick in range(1, 31):
        log.offset("g", 100 + 9 * tick)
        log.at(10 * tick).round({"t": 100 + 10 * tick})
        assert status(log) == (("OK", 0) if tick < 30 else ("WARN", 0))
    log.offset("g", 398)
    log.at(310).round()
    assert status(log) == ("OK", 310)


def test_abandoned_after_a_week_without_anybody() -> None:
    log = working()
    log.at(15).release("g")
    log.leave("g")
    log.at(15 + 7 * DAY - 1).round()
    assert status(log) == ("OK", 0)
    log.at(15 + 7 * DAY).round()
    assert status(log) == ("ABANDONED", 15)
    log.join("g")
    log.claim("g")
    log.at(15 + 8 * DAY).round()
    assert status(log) == ("OK", 15 + 8 * DAY)


def test_each_change_of_status_is_a_row_of_its_own() -> None:
    log = working()
    log.at(10).round({"t": 110})
    log.at(11).release("g")
    log.at(12).leave("g")
    log.at(20).round()
    log.at(22).join("g")
    log.at(23).claim("g")
    log.at(30).round()
    log.lag()
    told = [(row["status"], seconds(row["valid_to_at"])) for row in log.ended()]
    assert told == [("OK", 10), ("OK", 20), ("STOPPED", 30)]
