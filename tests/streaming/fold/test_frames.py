from __future__ import annotations

from streaming.fold.frames import Closure, Rounds
from zklake.events.envelope import Event
from zklake.events.samples import GroupReading, LogEnds, Round


def end_round(seq: int, groups: GroupReading | None) -> Event:
    ends = LogEnds(round=Round(seq - 1, groups=groups))
    return Event("c", "l", seq, "log_ends", 10 * seq, log_ends=ends)


def test_the_first_round_that_vouches_closes_what_was_said_before() -> None:
    rounds = Rounds()
    assert rounds.follow(end_round(5, GroupReading(complete_since_seq=3))) == Closure(
        "c", 3, 5, 50, coordinator="kafka"
    )
    assert rounds.follow(end_round(6, GroupReading(complete_since_seq=3))) is None
    assert rounds.follow(end_round(9, GroupReading(complete_since_seq=7))) is not None


def test_a_round_that_does_not_know_all_groups_closes_nothing() -> None:
    rounds = Rounds()
    assert rounds.follow(Event("c", "l", 1, "log_ends", 0)) is None
    for groups in (
        None,
        GroupReading(),
        GroupReading(complete_since_seq=2, reason="not asked yet"),
        GroupReading(complete_since_seq=2, partitions_behind=1),
        GroupReading(complete_since_seq=99),
    ):
        assert rounds.follow(end_round(5, groups)) is None
    assert rounds.follow(end_round(6, GroupReading(complete_since_seq=2))) is not None
