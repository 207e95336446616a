"""consumption_pauses: what is a pause, how long it lasted, what held (docs/pauses.md)."""

from __future__ import annotations

from typing import Any

import pytest

from streaming.fold.row import Row
from tests.streaming.fold.lag_log import LagLog, seconds, working


def busy(interval_s: int = 5, until_s: int = 60) -> LagLog:
    """A group that commits every 5 s; 10 records a second come, and a round every 10 s."""
    log = working()
    for now in range(interval_s, until_s + 1, interval_s):
        log.at(now).offset("g", 100 + 10 * now - 5)
        if now % 10 == 0:
            log.round({"t": 100 + 10 * now})
    return log


def busy_in_kafka() -> LagLog:
    """A group of Kafka's own that commits every 10 s."""
    log = LagLog()
    log.topic("t")
    log.kafka("k", "m")
    log.commit("k", 100, commit_at_ms=log.now_ms)
    log.round({"t": 100}, is_base=True)
    for now in range(10, 70, 10):
        log.at(now).commit("k", 95 + 10 * now, commit_at_ms=log.now_ms)
        log.round({"t": 100 + 10 * now})
    return log


def tell(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def spans(row: Row) -> list[tuple[Any, ...]]:
    return [
        (each["held"], seconds(each["from_ms"]), seconds(each["to_ms"])) for each in row["spans"]
    ]


def test_a_group_that_commits_at_its_own_pace_never_pauses() -> None:
    assert busy().ended("consumption_pauses") == []
    # Also one that commits once a minute, with rounds in between that find records waiting.
    log = working()
    for now in range(10, 600, 10):
        log.at(now).round({"t": 100 + 10 * now})
        if now % 60 == 0:
            log.offset("g", 100 + 10 * now - 5)
    assert log.ended("consumption_pauses") == []
    assert log.open["consumption_pauses"] == []


def test_a_killed_owner_was_gone_long_before_its_session() -> None:
    """kill -9 at 63 s, the session ends at 87 s, and another one claims 89 ms later."""
    log = busy()
    for now in (70, 80):
        log.at(now).round({"t": 100 + 10 * now})
    released = log.at(87).release("g", session_ended=True)
    log.at(87.089).claim("g", owner="n-0")
    log.at(90).round({"t": 1000})
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner", "least_ms", "is_open") == ("owner_crashed", "m-0", None, True)
    assert seconds(row["valid_from_at"]) == 60
    log.at(92).offset("g", 1010)
    log.at(100).round({"t": 1100})
    (row,) = log.ended("consumption_pauses")
    assert spans(row) == [("owner_crashed", 60, 87), ("unowned", 87, 87.089)]
    assert tell(row, "held", "owner_member_id", "event_seq") == ("owner_crashed", "m", released)
    assert tell(row, "least_ms", "most_ms", "usual_ms") == (27_089, 32_000, 5000)
    # By the rounds before the two commits: at 50 s and at 90 s.
    assert tell(row, "records", "records_waiting") == (400, 1010 - 695)
    assert tell(row, "ended_by", "is_open", "reason") == ("progress", False, None)
    assert (seconds(row["valid_from_at"]), seconds(row["valid_to_at"])) == (60, 92)
    log.take()
    assert log.open["consumption_pauses"] == []


def test_what_is_told_of_a_pause_stays_as_it_was_told() -> None:
    log = busy()
    log.at(87).release("g", session_ended=True)
    log.at(87.089).claim("g")
    log.at(92).offset("g", 1010)
    log.at(100).round({"t": 1100})
    before = [dict(row) for row in log.ended("consumption_pauses")]
    for now in range(110, 400, 10):
        log.at(now).offset("g", 100 + 10 * now - 5)
        log.round({"t": 100 + 10 * now})
    assert log.ended("consumption_pauses") == before


def test_a_clean_leave_costs_the_moment_without_an_owner() -> None:
    """It commits, lets go, and the next one claims 13 ms later."""
    log = busy()
    log.at(63).offset("g", 725)
    log.release("g", session_ended=True)
    log.at(63.013).claim("g", owner="n-0")
    log.at(66).offset("g", 755)
    log.at(70).round({"t": 800})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "least_ms", "most_ms", "held_ms") == (
        *("unowned", 13, 3000),
        {"unowned": 13},
    )
    assert row["records"] == 0


def test_a_join_that_takes_a_partition_over_costs_its_hand_over() -> None:
    log = busy()
    log.at(62).offset("g", 715)
    log.release("g")
    log.at(62.040).claim("g", owner="n-0")
    log.at(65).offset("g", 745)
    log.at(70).round({"t": 800})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "owner", "least_ms") == ("unowned", "m-0", 40)


def test_an_owner_that_stands_still_is_stuck_beyond_its_usual_time() -> None:
    log = busy()
    for now in range(70, 200, 10):
        log.at(now).round({"t": 100 + 10 * now})
        log.take()
        is_known = bool(log.open["consumption_pauses"])
        assert is_known == (now > 90)
    log.at(200).offset("g", 1500)
    log.round({"t": 2100})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "owner", "event_seq") == ("owner_stuck", "m-0", None)
    assert tell(row, "least_ms", "most_ms") == (135_000, 140_000)
    assert tell(row, "records", "records_waiting") == (2000 - 600, 2000 - 695)


def test_an_unmeasured_group_may_take_two_minutes() -> None:
    log = working()
    log.at(10).round({"t": 110})
    for now in (60, 120, 130):
        log.at(now).round()
        log.take()
        assert log.open["consumption_pauses"] == []
    log.at(131).round()
    log.take()
    (row,) = log.open["consumption_pauses"]
    # Nothing waited before the round at 10 s.
    assert (row["held"], seconds(row["valid_from_at"])) == ("owner_stuck", 10)
    log.at(140).offset("g", 110)
    log.at(141).round()
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "least_ms", "most_ms", "usual_ms") == (70_000, 140_000, None)


def test_without_a_leader_nobody_reads() -> None:
    log = busy()
    lost = log.at(61).state_of("t", -1, isr=3)
    log.at(70).round(failed=(1,), brokers=())
    log.at(81).state_of("t", 2)
    log.at(90).offset("g", 800)
    log.round({"t": 900})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "broker_id", "event_seq") == ("leader_away", 3, lost)
    assert tell(row, "least_ms", "most_ms") == (20_000, 30_000)


def test_a_leader_that_is_away_counts_before_an_owner_that_is_not_there() -> None:
    log = busy()
    log.at(61).state_of("t", -1)
    log.at(62).release("g")
    log.at(65).state_of("t", 1)
    log.at(69).claim("g")
    log.at(75).offset("g", 800)
    log.at(80).round({"t": 900})
    (row,) = log.ended("consumption_pauses")
    assert spans(row) == [("leader_away", 61, 65), ("unowned", 65, 69)]
    assert row["held_ms"] == {"leader_away": 4000, "unowned": 4000}


def test_two_owners_that_crash_one_after_the_other_are_one_pause() -> None:
    log = busy()
    log.at(70).round({"t": 800})
    log.at(80).release("g", session_ended=True)
    log.at(81).claim("g", owner="n-0")
    log.at(99).release("g", session_ended=True)
    log.at(100).claim("g", owner="o-0")
    log.at(101).offset("g", 900)
    log.at(110).round({"t": 1200})
    (row,) = log.ended("consumption_pauses")
    held = [("owner_crashed", 60, 80), ("unowned", 80, 81)]
    assert spans(row) == [*held, ("owner_crashed", 81, 99), ("unowned", 99, 100)]
    assert tell(row, "least_ms", "most_ms") == (40_000, 41_000)


def test_nothing_to_read_is_no_pause() -> None:
    log = working()
    log.at(10).release("g", session_ended=True)
    for now in range(20, 400, 20):
        log.at(now).round()
    log.take()
    assert log.open["consumption_pauses"] == []
    # Records come while nobody is there: they wait since a round found them.
    log.at(405).round({"t": 120})
    log.take()
    assert log.open["consumption_pauses"] == []
    log.at(410).round({"t": 130})
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert (row["held"], seconds(row["valid_from_at"])) == ("unowned", 405)
    log.at(420).claim("g")
    log.at(425).offset("g", 130)
    log.at(430).round()
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "least_ms", "most_ms") == (15_000, 425_000 - 380_000)


def test_a_gap_hides_what_held() -> None:
    log = busy()
    log.at(65).release("g")
    log.at(70).gap()
    log.at(75).claim("g")
    log.at(80).in_sync()
    log.at(120).round({"t": 1300})
    log.at(130).offset("g", 900)
    log.at(140).round({"t": 1500})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "reason", "least_ms", "held_ms") == ("unknown", "gap", None, None)
    assert tell(row, "most_ms", "records") == (70_000, 1300 - 600)


@pytest.mark.parametrize("word", ["topic", "commit"])
def test_a_pause_ends_with_what_there_was_to_read(word: str) -> None:
    log = busy()
    log.at(61).release("g", session_ended=True)
    log.at(70).round({"t": 800})
    if word == "topic":
        log.at(75).drop_topic("t")
    else:
        log.at(75).say("delete", path="/consumers/g/offsets/t/0", kind="offset")
    log.at(80).round()
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "ended_by") == ("unowned", "deleted")
    assert seconds(row["valid_to_at"]) == 80


def test_kafkas_groups_pause_too() -> None:
    log = busy_in_kafka()
    log.at(70).state("k")
    log.at(80).round({"t": 900})
    log.at(100).kafka("k", "n")
    log.at(110).commit("k", 1000, commit_at_ms=log.now_ms)
    log.at(120).round({"t": 1200})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "coordinator", "held", "least_ms") == ("kafka", "unowned", 30_000)
