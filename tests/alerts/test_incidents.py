from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incident import Incident, IncidentSubject, Spell, make_id
from alerts.incidents import Happening, Terms, find_bursts, find_incidents

START = datetime(2026, 11, 16, 3, 0, tzinfo=UTC)
BILLING = IncidentSubject("group", ("zookeeper", "billing"))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def spell(
    start: float, end: float | None, mark: int = 1, subject: IncidentSubject = BILLING
) -> Spell:
    return Spell(subject, at(start), None if end is None else at(end), mark)


def find(
    spells: list[Spell], horizon: float, *, for_s: float = 60, clear_s: float = 30
) -> list[tuple[float, float, float | None, float | None]]:
    """Seconds: began, opened, ended, closed."""
    terms = Terms("kafka", "rule", "warning", for_s, clear_s)
    return [count(one) for one in find_incidents(spells, terms, at(horizon))]


def count(one: Incident) -> tuple[float, float, float | None, float | None]:
    def seconds(time: datetime | None) -> float | None:
        return None if time is None else (time - START).total_seconds()

    began, opened = seconds(one.started_at), seconds(one.opened_at)
    assert began is not None
    assert opened is not None
    return began, opened, seconds(one.ended_at), seconds(one.closed_at)


@pytest.mark.parametrize(
    ("end", "horizon", "expected"),
    [
        (None, 59, []),
        (None, 60, [(0, 60, None, None)]),
        (59, 1000, []),
        (60, 1000, [(0, 60, 60, 90)]),
        (100, 99, [(0, 60, None, None)]),
        # It is over, but the pause could still be a short one.
        (100, 129, [(0, 60, None, None)]),
        (100, 130, [(0, 60, 100, 130)]),
    ],
)
def test_it_opens_and_closes_exactly_on_time(
    end: float | None, horizon: float, expected: list[object]
) -> None:
    assert find([spell(0, end)], horizon) == expected


def test_what_begins_past_the_horizon_is_not_known_yet() -> None:
    assert find([spell(10, None)], 9, for_s=0) == []
    assert find([spell(10, None)], 10, for_s=0) == [(10, 10, None, None)]


def test_short_pauses_do_not_end_it_and_long_ones_do() -> None:
    flapping = [spell(0, 70), spell(99, 120), spell(149, 170)]
    assert find(flapping, 1000) == [(0, 60, 170, 200)]
    assert find([spell(0, 70), spell(100, 170)], 1000) == [(0, 60, 70, 100), (100, 160, 170, 200)]


def test_flapping_counts_as_lasting_but_it_never_opens_in_a_pause() -> None:
    assert find([spell(0, 50), spell(70, 80)], 1000) == [(0, 70, 80, 110)]
    assert find([spell(0, 50)], 65) == []
    assert find([spell(0, 50), spell(70, None)], 70) == [(0, 70, None, None)]


def test_without_a_pause_it_is_one_although_none_is_asked_for() -> None:
    assert find([spell(0, 40), spell(40, 80)], 100, clear_s=0) == [(0, 60, 80, 80)]
    assert len(find([spell(0, 70), spell(70.5, 150)], 200, clear_s=0)) == 2


def test_subjects_are_judged_apart_and_have_ids_of_their_own() -> None:
    other = IncidentSubject("group", ("kafka", "billing"))
    terms = Terms("kafka", "rule", "warning", 0, 0)
    found = find_incidents([spell(0, 10), spell(0, 10, 1, other)], terms, at(20))
    assert {one.subject for one in found} == {BILLING, other}
    assert len({one.id for one in found}) == 2
    assert found[0].id in {make_id("kafka", "rule", one, 1) for one in (BILLING, other)}
    assert make_id("kafka", "rule", BILLING, 1) != make_id("kafka", "rule", BILLING, 2)


def test_evidence_is_that_of_the_worst_and_what_was_affected_adds_up() -> None:
    spells = [
        Spell(BILLING, at(0), at(10), 1, 5, {"status": "STALLED"}, ("a-0", "a-1")),
        Spell(BILLING, at(5), at(20), 2, 6, {"status": "STOPPED"}, ("a-1", "b" * 500)),
    ]
    (one,) = find_incidents(spells, Terms("kafka", "rule", "warning", 0, 0), at(30))
    assert one.evidence["status"] == "STOPPED"
    assert one.evidence["affected"] == 3
    assert len(one.evidence["some"][2]) == 201


def burst(*times: float) -> list[Happening]:
    return [Happening(BILLING, at(time), mark, {}) for mark, time in enumerate(times)]


def test_so_many_within_so_long_are_a_burst_and_it_ends_when_the_first_is_too_old() -> None:
    spells = find_bursts(burst(0, 50, 100, 130, 400), 3, 100)
    # At 100 there are three; at 101 the first is too old, at 130 there are three again.
    assert find(spells, 1000, for_s=0, clear_s=0) == [(100, 100, 100, 100), (130, 130, 150, 150)]
    assert find(spells, 1000, for_s=0, clear_s=31) == [(100, 100, 150, 181)]
    assert find_bursts(burst(0, 50, 100.001), 3, 100) == []
    assert find(spells, 149, for_s=0, clear_s=31) == [(100, 100, None, None)]


def test_one_is_a_burst_if_one_is_asked_for() -> None:
    spells = find_bursts(burst(0, 40), 1, 100)
    assert find(spells, 1000, for_s=0, clear_s=0) == [(0, 0, 140, 140)]


SPELLS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), max_size=8)


@settings(max_examples=200)
@given(SPELLS, st.integers(0, 90), st.integers(0, 60), st.lists(st.integers(0, 500), max_size=12))
def test_what_was_found_once_is_found_at_every_later_look(
    drawn: list[tuple[int, int]], for_s: int, clear_s: int, horizons: list[int]
) -> None:
    """The law that makes one message per incident possible: nothing vanishes, nothing reopens."""
    terms = Terms("kafka", "rule", "warning", for_s, clear_s)
    spells = [spell(s, s + n, mark) for mark, (s, n) in enumerate(sorted(drawn))]
    opened: dict[str, datetime] = {}
    closed: dict[str, datetime] = {}
    for horizon in sorted(horizons):
        # As a lake that is written meanwhile: what has not happened yet is not in it.
        known = [one for one in spells if one.started_at <= at(horizon)]
        found = {one.id: one for one in find_incidents(known, terms, at(horizon))}
        assert opened.keys() <= found.keys()
        for id_, one in found.items():
            assert opened.setdefault(id_, one.opened_at) == one.opened_at
            if id_ in closed:
                assert one.closed_at == closed[id_]
            if one.closed_at is not None:
                closed[id_] = one.closed_at
