"""Up to when the history of a lake is whole, and what cannot be known of a moment in it."""

from __future__ import annotations

from datetime import datetime

from delta_tables.asking.moments import judge_moments, write_gaps
from delta_tables.live.tables import Tables


def read_watermark(tables: Tables) -> datetime | None:
    """The time of the last event."""
    span = tables.event_span
    return None if span is None else span[1]


def read_sampled_at(tables: Tables) -> datetime | None:
    """The time of the last sampling round."""
    sql = "SELECT max(confirmed_at) AS at FROM log_ends_now"
    return next((row["at"] for row in tables.query(sql, "log_ends_now")), None)


def find_doubts(tables: Tables, at: datetime) -> list[str]:
    """What makes the answer about a moment less than certain; nothing for most moments."""
    gaps = tables.query(write_gaps([at]), "log_gaps")
    return [doubt.says for doubt in judge_moments([at], tables.event_span, gaps)]
