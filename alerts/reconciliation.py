"""What is new since the last look: the incidents that were known, against those found now. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.evaluation import Evaluation
from alerts.incident import Incident, Spell, name_return, split_return

# Somebody's clock was off, or the lake was made anew.
_VANISHED = "it is no longer in the history"
_NOT_KNOWN = "its end was not observed"
_BACK = "it was reported as closed, and is open again"


@dataclass(frozen=True)
class IncidentChanges:
    """What to write down, and to send."""

    opened: list[Incident]
    lasting: list[Incident]
    closed: list[Incident]


def reconcile(
    evaluation: Evaluation,
    last: datetime | None,
    known: Iterable[Incident],
    past_ids: Collection[str],
) -> IncidentChanges:
    """What became of those that were open at `last` (`known`), and which are new.

    `past_ids` are those that are over; None as `last`: this rule never looked before. One that was
    ended by something else than the history (its rule went away, or its row) and that lasts when
    that is back is reported again, with an id and an end of its own.
    """
    changes = IncidentChanges([], [], [])
    waiting = list(evaluation.incidents)
    for one in known:
        found = _find(one, waiting)
        if found is not None:
            waiting.remove(found)
        state = _carry_on(one, found) if found else _judge_absence(one, evaluation)
        (changes.lasting if state.is_open else changes.closed).append(state)
    reports = _count_reports(past_ids)
    for incident in waiting:
        times = reports.get(incident.id, 0)
        if _is_old(incident, last) or (times and not incident.is_open):
            continue
        changes.opened.append(_return(incident, times + 1) if times else incident)
        if not incident.is_open:
            changes.closed.append(incident)
    return changes


def _find(one: Incident, found: Iterable[Incident]) -> Incident | None:
    """The same, by its id; or the first of its subject: its beginning may lie before what is read.

    Rows of lag are kept for some weeks, and a look does not go back farther than it must.
    """
    mine = [incident for incident in found if incident.subject == one.subject]
    first, _ = split_return(one.id)
    return next((i for i in mine if i.id == first), mine[0] if mine else None)


def _carry_on(one: Incident, found: Incident) -> Incident:
    return replace(found, id=one.id, started_at=one.started_at, opened_at=one.opened_at)


def _count_reports(ids: Iterable[str]) -> dict[str, int]:
    """By the id that each had at first: the highest count, for the earlier ones are forgotten."""
    reports: dict[str, int] = {}
    for first, count in map(split_return, ids):
        reports[first] = max(count, reports.get(first, 0))
    return reports


def _return(incident: Incident, count: int) -> Incident:
    evidence = {**incident.evidence, "note": _BACK}
    return replace(incident, id=name_return(incident.id, count), evidence=evidence)


def _judge_absence(one: Incident, evaluation: Evaluation) -> Incident:
    """A subject in doubt may have been ill before what is read: it goes on until that is known."""
    # A doubt from before its beginning is not what it began with.
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


def _is_of(doubt: Spell, one: Incident) -> bool:
    return doubt.started_at >= one.started_at


def go_on(one: Incident) -> Incident:
    """It lasts, although nothing in the history says so."""
    return replace(one, evidence={"note": _NOT_KNOWN})


def end(one: Incident, at: datetime, note: str) -> Incident:
    """It is over, although nothing in the history ended it."""
    return replace(one, ended_at=at, closed_at=at, evidence={"note": note})


def _is_old(incident: Incident, last: datetime | None) -> bool:
    """Over before somebody was there to report it."""
    if incident.closed_at is None:
        return False
    return last is None or incident.closed_at <= last
