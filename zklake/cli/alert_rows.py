"""Incidents as rows and as plain data, for `zklake alerts`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alerts.incident import Incident
    from zklake.settings.alert_rules import Rule


def tabulate(found: list[Incident]) -> tuple[list[str], list[list[Any]]]:
    """Names of columns, and a row for each."""
    names = ["started_at", "opened_at", "ended_at", "lasted", "severity", "rule", "subject"]
    return [*names, "evidence", "id"], [_tabulate_one(one) for one in found]


def _tabulate_one(one: Incident) -> list[Any]:
    from alerts.evidence import format_evidence
    from zklake.times import write_duration

    lasted = (one.ended_at - one.started_at).total_seconds() if one.ended_at else None
    return [
        write(one.started_at),
        write(one.opened_at),
        write(one.ended_at),
        write_duration(lasted) or "open",
        one.severity,
        one.rule,
        one.subject.text,
        format_evidence(one.evidence),
        one.id,
    ]


def write(at: datetime | None) -> str | None:
    """A time, if there is one."""
    from zklake.times import write_time

    return None if at is None else write_time(at)


def _count(found: list[Incident]) -> dict[str, Any]:
    lasted = [(one.ended_at - one.started_at).total_seconds() for one in found if one.ended_at]
    return {
        "incidents": len(found),
        "open": sum(one.is_open for one in found),
        "subjects": len({one.subject for one in found}),
        "longest_s": max(lasted, default=None),
    }


def describe_test(
    rule: Rule, start: datetime, horizon: datetime, found: list[Incident]
) -> dict[str, Any]:
    """What a trial found, as plain data."""
    return {
        "rule": rule.model_dump(mode="json"),
        "since": write(start),
        "until": write(horizon),
        "counts": _count(found),
        "incidents": [one.describe() for one in found],
    }


def sum_up(rule: Rule, start: datetime, horizon: datetime, found: list[Incident]) -> str:
    """The same in one sentence."""
    from zklake.phrases import format_count
    from zklake.times import write_duration

    counts = _count(found)
    longest = counts["longest_s"]
    tail = f"; the longest lasted {write_duration(longest)}" if longest is not None else ""
    return (
        f"{rule.title} would have fired {format_count(counts['incidents'], 'time')} for "
        f"{format_count(counts['subjects'], 'subject')} from {write(start)} to {write(horizon)}; "
        f"open at the end: {counts['open']}{tail}"
    )
