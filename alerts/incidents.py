"""From spells to incidents. Pure: the same history gives the same ones, however often it is asked.

Whatever is found at one horizon is found at every later one: an incident never vanishes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from alerts.incident import Incident, IncidentSubject, Spell, cut, make_id

_SHOWN_ITEMS = 20


class Terms(NamedTuple):
    """Whose incidents, and how long things must last."""

    cluster: str
    rule: str
    severity: str
    for_s: float
    clear_s: float


class Happening(NamedTuple):
    """One of the things that are counted."""

    subject: IncidentSubject
    at: datetime
    mark: int
    evidence: dict[str, Any]


def find_incidents(spells: Iterable[Spell], terms: Terms, horizon: datetime) -> list[Incident]:
    """The incidents that these spells make, as of the horizon: until then the history is whole."""
    found = []
    sure = (spell for spell in spells if not spell.is_doubt)
    for run in list_runs(sure, terms.clear_s, horizon):
        incident = _judge(run, terms, horizon)
        if incident is not None:
            found.append(incident)
    return sorted(found, key=lambda one: (one.opened_at, one.id))


def find_doubts(spells: Iterable[Spell], horizon: datetime) -> dict[IncidentSubject, list[Spell]]:
    """The doubts as of the horizon, by subject."""
    doubts: dict[IncidentSubject, list[Spell]] = defaultdict(list)
    for spell in spells:
        if spell.is_doubt and spell.started_at <= horizon:
            doubts[spell.subject].append(_cut_off(spell, horizon))
    return dict(doubts)


def list_runs(spells: Iterable[Spell], clear_s: float, horizon: datetime) -> Iterator[list[Spell]]:
    """Spells of one subject with pauses shorter than clear_s; none that begins past the horizon."""
    by_subject: dict[IncidentSubject, list[Spell]] = defaultdict(list)
    for spell in spells:
        if spell.started_at <= horizon:
            by_subject[spell.subject].append(_cut_off(spell, horizon))
    for mine in by_subject.values():
        mine.sort(key=lambda spell: (spell.started_at, spell.mark))
        yield from _split(mine, timedelta(seconds=clear_s))


def _cut_off(spell: Spell, horizon: datetime) -> Spell:
    is_over = spell.ended_at is not None and spell.ended_at <= horizon
    return spell if is_over else replace(spell, ended_at=None)


def _split(spells: Sequence[Spell], clear: timedelta) -> Iterator[list[Spell]]:
    run: list[Spell] = []
    for spell in spells:
        end = _find_end(run) if run else None
        pause = spell.started_at - end if end else timedelta(0)
        # Without a pause it is the same, also where none is asked for.
        if run and pause > timedelta(0) and pause >= clear:
            yield run
            run = []
        run.append(spell)
    yield run


def _find_end(run: Sequence[Spell]) -> datetime | None:
    ends = [spell.ended_at for spell in run]
    return None if None in ends else max(end for end in ends if end is not None)


def _judge(run: Sequence[Spell], terms: Terms, horizon: datetime) -> Incident | None:
    opened_at = _find_opening(run, timedelta(seconds=terms.for_s), horizon)
    if opened_at is None:
        return None
    end = _find_end(run)
    cleared_at = end + timedelta(seconds=terms.clear_s) if end else None
    is_closed = cleared_at is not None and cleared_at <= horizon
    # The first to be known: whatever comes later has a higher one.
    mark = min(spell.mark for spell in run)
    return Incident(
        make_id(terms.cluster, terms.rule, run[0].subject, mark),
        terms.cluster,
        terms.rule,
        terms.severity,
        run[0].subject,
        run[0].started_at,
        opened_at,
        end if is_closed else None,
        cleared_at if is_closed else None,
        len(run),
        _add_up(run),
    )


def _find_opening(run: Sequence[Spell], wait: timedelta, horizon: datetime) -> datetime | None:
    """When it had lasted long enough; never in a pause, which might be its end."""
    due = run[0].started_at + wait
    for spell in run:
        at = max(due, spell.started_at)
        if at <= (spell.ended_at or horizon):
            return at
    return None


def _add_up(run: Sequence[Spell]) -> dict[str, Any]:
    evidence = dict(max(run, key=lambda spell: (spell.rank, spell.started_at)).evidence)
    items = {item for spell in run for item in spell.items}
    if items:
        some = [cut(item) for item in sorted(items)[:_SHOWN_ITEMS]]
        evidence |= {"affected": len(items), "some": some}
    return evidence


def find_bursts(happenings: Iterable[Happening], count: int, within_s: float) -> list[Spell]:
    """The times in which the last `within_s` had at least `count` of a subject's happenings."""
    by_subject: dict[IncidentSubject, list[Happening]] = defaultdict(list)
    for one in happenings:
        by_subject[one.subject].append(one)
    within = timedelta(seconds=within_s)
    spells = []
    for subject, mine in by_subject.items():
        mine.sort(key=lambda one: (one.at, one.mark))
        for first, last in zip(mine, mine[count - 1 :], strict=False):
            if last.at - first.at <= within:
                end = first.at + within
                spells.append(Spell(subject, last.at, end, last.mark, 0, last.evidence))
    return spells
