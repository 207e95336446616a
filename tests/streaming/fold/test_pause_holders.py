"""consumption_pauses: who held, where a partition changed hands within a silence."""

from __future__ import annotations

from tests.streaming.fold.lag_log import LagLog, seconds, working
from tests.streaming.fold.test_pauses import busy, busy_in_kafka, spans, tell


def named(row: dict[str, object]) -> list[tuple[object, object]]:
    held = row["spans"]
    assert isinstance(held, list)
    return [(each["held"], each["owner_member_id"]) for each in held]


def rounds(log: LagLog, since: int, until: int) -> None:
    for now in range(since, until, 10):
        log.at(now).round({"t": 100 + 10 * now})


def hand_over(log: LagLog, at: float, owner: str, hole_s: float = 0.04) -> int:
    """All let go and claim; who has read nothing has nothing to commit."""
    released = log.at(at).release("g")
    log.at(at + hole_s).claim("g", owner=owner)
    return released


def test_who_was_stuck_is_not_who_took_over() -> None:
    """m stands still from 60 s on; n takes the partition over at 160 s and reads at once."""
    log = busy()
    rounds(log, 70, 160)
    released = hand_over(log, 160, "n-0")
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner") == ("owner_stuck", "m-0")
    rounds(log, 170, 180)
    log.take()
    (row,) = log.open["consumption_pauses"]
    # n has done nothing wrong yet.
    assert tell(row, "held", "owner", "event_seq") == ("owner_stuck", "m-0", released)
    log.at(185).offset("g", 1500)
    log.round({"t": 1950})
    (row,) = log.ended("consumption_pauses")
    assert spans(row) == [("owner_stuck", 60, 160), ("unowned", 160, 160.04)]
    assert tell(row, "held", "owner_member_id", "event_seq") == ("owner_stuck", "m", released)
    # What m read and did not commit is read again by n: none of its time counts as reading.
    assert tell(row, "least_ms", "most_ms") == (100_040, 125_000)


def test_who_is_stuck_now_is_said_while_it_is() -> None:
    """m crashed, n took over and hangs: while that lasts, it is n's doing."""
    log = busy()
    log.at(70).round({"t": 800})
    log.at(87).release("g", session_ended=True)
    log.at(87.089).claim("g", owner="n-0")
    log.at(90).round({"t": 1000})
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner") == ("owner_crashed", "m-0")
    rounds(log, 100, 200)
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner", "event_seq") == ("owner_stuck", "n-0", None)
    log.at(200).offset("g", 1500)
    log.round({"t": 2100})
    (row,) = log.ended("consumption_pauses")
    assert named(row) == [("owner_crashed", "m"), ("unowned", "m"), ("owner_stuck", "n")]
    assert tell(row, "held", "owner") == ("owner_stuck", "n-0")


def test_a_stuck_owner_that_claims_again_and_again_is_stuck() -> None:
    """Every 20 s all let go and m claims the same partition: never 30 s in one piece."""
    log = busy()
    for now in range(80, 200, 20):
        log.at(now - 10).round({"t": 100 + 10 * now})
        hand_over(log, now, "m-0")
    log.at(200).offset("g", 1500)
    log.round({"t": 2100})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "owner_member_id") == ("owner_stuck", "m")
    assert row["held_ms"] == {"owner_stuck": 140_000 - 6 * 40, "unowned": 6 * 40}
    # Of the last time, which began at 180.04 s, it may have read for as long as usual.
    assert tell(row, "least_ms", "most_ms") == (135_000, 140_000)


def test_owners_that_take_turns_are_each_given_their_usual_time() -> None:
    """None had it for longer than usual: only the moments without an owner are sure."""
    log = busy()
    for number, now in enumerate(range(80, 160, 20)):
        log.at(now - 10).round({"t": 100 + 10 * now})
        hand_over(log, now, f"n{number}-0")
    log.at(160).offset("g", 1500)
    log.round({"t": 2100})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "least_ms", "most_ms") == ("unowned", 160, 100_000)


def test_of_two_that_crashed_the_longer_is_named() -> None:
    log = busy()
    log.at(70).round({"t": 800})
    log.at(70.5).release("g", session_ended=True)
    log.at(71).claim("g", owner="n-0")
    rounds(log, 80, 190)
    crashed = log.at(190).release("g", session_ended=True)
    log.at(191).claim("g", owner="o-0")
    log.at(192).offset("g", 900)
    log.at(200).round({"t": 2100})
    (row,) = log.ended("consumption_pauses")
    assert tell(row, "held", "owner", "event_seq") == ("owner_crashed", "n-0", crashed)


def test_nobody_owned_it_before_the_first_claim() -> None:
    """Somebody sets the offset forward while nobody owns the partition: nobody is stuck."""
    log = busy()
    log.at(61).release("g", session_ended=True)
    log.at(62).offset("g", 700)
    rounds(log, 70, 200)
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner") == ("unowned", None)
    log.at(200).claim("g", owner="n-0")
    log.at(205).offset("g", 1500)
    log.round({"t": 2150})
    (*_, row) = log.ended("consumption_pauses")
    assert spans(row) == [("unowned", 62, 200)]
    assert tell(row, "held", "owner", "least_ms") == ("unowned", None, 138_000)


def test_of_the_time_before_the_first_look_nobody_knows() -> None:
    """The offset is from long ago, and its owner claimed the partition just now."""
    log = LagLog()
    log.topic("t")
    log.join("g")
    log.offset("g", 100, op="create")
    log.at(300).claim("g", owner="n-0")
    log.round({"t": 5000}, is_base=True)
    log.at(310).round({"t": 5000})
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner") == ("unknown", None)
    for now in range(320, 440, 10):
        log.at(now).round({"t": 5000})
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner") == ("owner_stuck", "n-0")
    log.at(440).offset("g", 5000)
    log.round()
    (row,) = log.ended("consumption_pauses")
    assert spans(row) == [("unknown", 0, 300), ("owner_stuck", 300, 440)]
    # Unmeasured: 60 s are usual.
    assert tell(row, "least_ms", "most_ms") == (80_000, 440_000)


def test_kafkas_groups_hand_over_with_nobody_between() -> None:
    """A member that no longer reads is told by the one that has its partitions next."""
    log = busy_in_kafka()
    rounds(log, 70, 110)
    log.at(112).kafka("k", "n")
    log.at(117).commit("k", 1200, commit_at_ms=log.now_ms)
    log.at(120).round({"t": 1300})
    (row,) = log.ended("consumption_pauses")
    assert spans(row) == [("owner_stuck", 60, 112)]
    assert tell(row, "held", "owner", "least_ms") == ("owner_stuck", "m", 52_000)


def test_more_changes_of_hands_than_are_remembered_blame_nobody() -> None:
    log = busy()
    for number in range(100):
        hand_over(log, 61 + number, f"m{number % 2}-0")
        if number % 10 == 0:
            log.round({"t": 800 + 10 * number})
    log.at(162).offset("g", 2000)
    log.at(170).round({"t": 2100})
    (row,) = log.ended("consumption_pauses")
    first, *_ = row["spans"]
    assert (first["held"], seconds(first["from_ms"])) == ("unknown", 60)
    # 64 of 100 are remembered; of them none had it for long, both together do.
    assert tell(row, "held", "reason") == ("owner_stuck", None)
    assert row["least_ms"] < row["most_ms"]


def test_one_that_has_it_since_the_beginning_is_stuck_since_its_last_progress() -> None:
    log = working()
    for now in (10, 60, 120, 131):
        log.at(now).round({"t": 110})
    log.take()
    (row,) = log.open["consumption_pauses"]
    assert tell(row, "held", "owner") == ("owner_stuck", "m-0")
