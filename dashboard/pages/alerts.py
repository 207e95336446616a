"""Alerts: incidents that are open or over, whom they were sent to, and what each rule finds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from markupsafe import Markup

from alerts.history import JournalState, find_in_range, read_journal_state
from alerts.incident import Incident
from alerts.rule import Clock
from dashboard.charts import Bar, Lane, draw_lanes
from dashboard.openapi.shapes import Instant, Named, choose, say
from dashboard.page import Asked, Data, Page
from delta_tables.live.tables import Row
from zklake.errors import ZklakeError
from zklake.settings.alert_rules import Rule
from zklake.times import write_duration

_MOST = 200
_READS = (
    "offset_lag",
    "partition_state",
    "topics",
    "broker_membership",
    "controller",
    "rebalances",
    "admin_operations",
)
_SEVERITY = choose("info", "warning", "critical")
_TONES = {"critical": "hole", "warning": "c6", "info": "c0"}
# What every rule has, beside its own.
_SHARED = ("rule", "name", "severity")
INCIDENT = Named(
    "AlertIncident",
    {
        "id": str,
        "rule": str,
        "severity": _SEVERITY,
        "subject": say(dict[str, str], "kind and names of what it is about"),
        "subject_text": str,
        "started_at": say(Instant, "when the condition began"),
        "opened_at": say(Instant, "when it had lasted long enough"),
        "ended_at": say(Instant | None, "when the condition ended"),
        "closed_at": say(Instant | None, "when the pause was long enough; null: it is open"),
        "evidence": say(dict[str, Any], "what was found; empty where only the journal knows it"),
        "sent": say(dict[str, str], "by notifier, what became of its first message"),
    },
)
_RULE = Named(
    "AlertRule",
    {
        "name": str,
        "kind": str,
        "says": say(str, "when it fires"),
        "severity": _SEVERITY,
        "settings": say(dict[str, Any], "its own settings"),
        "found": say(int | None, "incidents in the time range; null: its tables are missing"),
        "open": say(int | None, "those of them that are open"),
        "last_at": say(Instant | None, "when the last one opened"),
        "seconds": say(float | None, "how long they lasted, all together"),
        "error": str | None,
    },
)


def load(asked: Asked) -> Data:
    """What the rules find in the range, beside what the journal says."""
    journal, trouble = _read_journal(asked)
    sent = _list_sent(journal)
    rules, found = [], dict[str, Incident]()
    for rule in asked.options.alert_rules:
        described, incidents = _try_rule(asked, rule)
        rules.append(described)
        found.update((one.id, one) for one in incidents)
    # What the history has let go of, or a rule that is no more, the journal still knows.
    for one in journal.past if journal else ():
        found.setdefault(one.id, one)
    rows = [_describe(one, sent.get(one.id, {})) for one in found.values()]
    rows.sort(key=lambda row: row["opened_at"], reverse=True)
    return {
        "open": [row for row in rows if row["closed_at"] is None],
        "past": [row for row in rows if row["closed_at"] is not None][:_MOST],
        "rules": rules,
        "journal": {
            "is_there": journal is not None,
            "looked_at": journal.looked_at if journal else None,
            "trouble": trouble,
        },
    }


def _read_journal(asked: Asked) -> tuple[JournalState | None, str | None]:
    path = asked.options.alerts_journal
    if path is None:
        return None, None
    try:
        return read_journal_state(path, asked.options.cluster, asked.span.start, most=_MOST), None
    except ZklakeError as error:
        return None, str(error)


def _list_sent(journal: JournalState | None) -> dict[str, dict[str, str]]:
    sent: dict[str, dict[str, str]] = {}
    for one in journal.deliveries if journal else ():
        if one["event"] == "open":
            sent.setdefault(one["incident_id"], {})[one["notifier"]] = one["state"]
    return sent


def _try_rule(asked: Asked, rule: Rule) -> tuple[Row, list[Incident]]:
    """Tried once a minute: a rule may read all of the history."""
    clocks: Mapping[Clock, datetime | None] = {
        "watermark": asked.pulse.watermark_at,
        "sampled": asked.pulse.sampled_at,
        "now": asked.now if asked.pulse.watermark_at else None,
    }
    minute = asked.now.replace(second=0, microsecond=0)
    params = tuple(asked.span.params.items())
    error, found = None, None
    try:
        found = asked.tables.derive(
            (
                "alert rule",
                rule.model_dump_json(),
                params,
                minute,
                asked.pulse.watermark_at is None,
            ),
            (),
            lambda: find_in_range(asked.tables, rule, asked.span, clocks),
        )
    except ZklakeError as failure:
        error = str(failure)
    return _describe_rule(rule, found, asked.now, error), found or []


def _describe_rule(
    rule: Rule, found: list[Incident] | None, now: datetime, error: str | None
) -> Row:
    known = found or []
    lasted = [((one.ended_at or now) - one.started_at).total_seconds() for one in known]
    return {
        "name": rule.title,
        "kind": rule.kind,
        "says": (type(rule).__doc__ or "").strip(),
        "severity": rule.severity,
        "settings": rule.model_dump(mode="json", exclude=set(_SHARED)),
        "found": None if found is None else len(known),
        "open": None if found is None else sum(one.is_open for one in known),
        "last_at": max((one.opened_at for one in known), default=None),
        "seconds": sum(lasted) if known else None,
        "error": error,
    }


def _describe(one: Incident, sent: dict[str, str]) -> Row:
    described = one.describe()
    names = ("id", "rule", "severity", "subject", "subject_text", "evidence")
    return {
        **{name: described[name] for name in names},
        "started_at": one.started_at,
        "opened_at": one.opened_at,
        "ended_at": one.ended_at,
        "closed_at": one.closed_at,
        "sent": sent,
    }


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """A lane per rule: when it fired."""
    rows = [*data["open"], *data["past"]]
    names = [rule["name"] for rule in data["rules"]]
    names += sorted({row["rule"] for row in rows}.difference(names))
    lanes = [
        Lane(name, [_draw(asked, row) for row in reversed(rows) if row["rule"] == name])
        for name in names
    ]
    return {
        "incidents": draw_lanes(lanes, asked.span, "Incidents over time") if rows else Markup("")
    }


def _draw(asked: Asked, row: Row) -> Bar:
    end = row["ended_at"] or row["closed_at"] or asked.span.end
    lasted = write_duration((end - row["started_at"]).total_seconds())
    title = f"{row['subject_text']}: {lasted}" + ("" if row["closed_at"] else ", still open")
    href = asked.link_at(max(row["started_at"], asked.span.start))
    tone = _TONES.get(row["severity"], "c0")
    return Bar(row["started_at"], end, title, tone, href, row["subject_text"])


PAGE = Page(
    "alerts",
    "Alerts",
    load,
    _READS,
    draw,
    answer={
        "open": [INCIDENT],
        "past": [INCIDENT],
        "rules": [_RULE],
        "journal": {
            "is_there": say(bool, "whether `zklake alerts run` keeps a journal here"),
            "looked_at": say(Instant | None, "up to when it looked at the lake"),
            "trouble": say(str | None, "why the journal cannot be read"),
        },
    },
)
