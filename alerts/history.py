"""What rules find in a time range, and what the journal says was sent. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from typing import Any, NamedTuple

from alerts.evaluation import find_lookback
from alerts.incident import Incident
from alerts.incidents import Terms, find_incidents
from alerts.journal_file import connect_to_read, explaining
from alerts.journal_rows import list_deliveries, list_past, read_looked_at
from alerts.rule import Clock
from alerts.rules import KIND_BY_NAME
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.settings.alert_rules import Rule


class JournalState(NamedTuple):
    """What the journal keeps: when the notifier looked last, incidents that are over, messages."""

    looked_at: datetime | None
    past: list[Incident]
    deliveries: list[dict[str, Any]]


def find_in_range(
    tables: Tables, rule: Rule, span: Span, clocks: Mapping[Clock, datetime | None]
) -> list[Incident] | None:
    """The incidents that were open at some time of the range; None: its tables are missing."""
    kind = KIND_BY_NAME[rule.kind]
    clock = clocks[kind.clock]
    if clock is None or not tables.has(*kind.reads):
        return None
    horizon = min(clock, span.end)
    wide = Span(min(span.start, horizon) - find_lookback(rule), span.end)
    terms = Terms(tables.cluster, rule.title, rule.severity, rule.for_s, rule.clear_s)
    found = find_incidents(kind.find(tables, rule, wide), terms, horizon)
    return [one for one in found if (one.closed_at or horizon) >= span.start]


def read_journal_state(
    path: str, cluster: str, since: datetime, *, most: int
) -> JournalState | None:
    """From the journal; None when there is none."""
    connection = connect_to_read(path, cluster)
    if connection is None:
        return None
    with closing(connection), explaining(path):
        return JournalState(
            read_looked_at(connection),
            list_past(connection, cluster, since, most),
            list_deliveries(connection, most),
        )
