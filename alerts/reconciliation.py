"""What is new since the last look: the incidents that were known, against those found now. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.evaluation import Evaluation
from alerts.incident import Incident, IncidentSubject, Spell, name_return, split_return

# Somebody's clock was off, or the lake was made anew.
_VANISHED = "it is no longer in the history"
_NOT_KNOWN = "its end was not observed"
_BACK = "it was reported as closed, and is open again"


@dataclass(frozen=True)
class KnownIncident:
    """An incident that was open at the last look."""

    id: str
    cluster: str
    rule: str
    severity: str
    subject: IncidentSubject
    started_at: datetime
    opened_at: datetime


@dataclass(frozen=True)
class IncidentChanges:
    """What to write down, and to tell."""

    opened: list[Incident]
    lasting: list[Incident]
    closed: list[Incident]


def reconcile(
    evaluation: Evaluation,
    last: datetime | None,
    known: Iterable[KnownIncident],
    past_ids: Collection[str],
) -> IncidentChanges:
    """What became of those that were open at `last`, and which are new.

    `past_ids` are those that are over; None as `last`: this rule never looked before. One that was
    ended by something else than the history (its rule went away, or its row) and that lasts when
    that is back is told again, with an id and an end of its own.
    """
    changes = IncidentChanges([], [], [])
    waiting = list(evaluation.incidents)
    for one in known:
        found = _find(one, waiting)
        if found is not None:
            waiting.remove(found)
        state = _carry_on(one, found) if found else _judge_absence(one, evaluation)
        (changes.lasting if state.is_open else changes.closed).append(state)
    told = _count_tellings(past_ids)
    for incident in waiting:
        times = told.get(incident.id, 0)
        if _is_old(incident, last) or (times and not incident.is_open):
            continue
        changes.opened.append(_return(incident, times + 1) if times else incident)
        if not incident.is_open:
            changes.closed.append(incident)
    return changes


def _find(one: KnownIncident, found: Iterable[Incident]) -> Incident | None:
    """The same, by its id; or the first of its subject: its beginning may lie before what is read.

    Rows of lag are kept for some weeks, and a look does not go back farther than it must.
    """
    mine = [incident for incident in found if incident.subject == one.subject]
    first, _ = split_return(one.id)
    return next((i for i in mine if i.id == first), mine[0] if mine else None)


def _carry_on(one: KnownIncident, found: Incident) -> Incident:
    return replace(found, id=one.id, started_at=one.started_at, opened_at=one.opened_at)


def _count_tellings(ids: Iterable[str]) -> dict[str, int]:
    """By the id that each had at first: the highest count, for the earlier ones are forgotten."""
    told: dict[str, int] = {}
    for first, count in map(split_return, ids):
        told[first] = max(count, told.get(first, 0))
    return told


def _return(incident: Incident, count: int) -> Incident:
    evidence = {**incident.evidence, "note": _BACK}
    return replace(incident, id=name_return(incident.id, count), evidence=evidence)


def _judge_absence(one: KnownIncident, evaluation: Evaluation) -> Incident:
    """Of what cannot be told somebody was ill before what is read: it goes on until it is told."""
    # What could not be told when it began was not what it began with.
    mine = [spell for spell in evaluation.doubts.get(one.subject, ()) if _is_of(spell, one)]
    if not mine:
        return end(one, evaluation.horizon, _VANISHED)
    ends = [spell.ended_at for spell in mine if spell.ended_at is not None]
    if len(ends) < len(mine):
        return go_on(one)
    closed_at = max(ends) + timedelta(seconds=evaluation.rule.clear_s)
    if closed_at > evaluation.horizon:
        return go_on(one)
    return replace(end(one, closed_at, _NOT_KNOWN), ended_at=max(ends))


def _is_of(doubt: Spell, one: KnownIncident) -> bool:
    return doubt.started_at >= one.started_at


def go_on(one: KnownIncident) -> Incident:
    """It lasts, although nothing in the history says so."""
    return replace(end(one, one.opened_at, _NOT_KNOWN), ended_at=None, closed_at=None)


def end(one: KnownIncident, at: datetime, note: str) -> Incident:
    """It is over, although nothing in the history ended it."""
    return Incident(
        one.id,
        one.cluster,
        one.rule,
        one.severity,
        one.subject,
        one.started_at,
        one.opened_at,
        at,
        at,
        0,
        {"note": note},
    )


def _is_old(incident: Incident, last: datetime | None) -> bool:
    """Over before somebody was there to tell it."""
    if incident.closed_at is None:
        return False
    return last is None or incident.closed_at <= last
