"""Up to when the history of a lake is whole: its last event, and its last sampling round."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from delta_tables.live.tables import Tables


def read_watermark(tables: Tables) -> datetime | None:
    """The time of the last event, by the statistics in Delta's log."""
    return tables.derive("watermark", ("znode_events",), lambda: _read_last_event(tables))


def read_sampled_at(tables: Tables) -> datetime | None:
    """The time of the last sampling round."""
    sql = "SELECT max(confirmed_at) AS at FROM log_ends WHERE is_open"
    return next((row["at"] for row in tables.query(sql, "log_ends")), None)


def _read_last_event(tables: Tables) -> datetime | None:
    events = tables.get("znode_events")
    if events is None:
        return None
    actions: Any = events.get_add_actions(flatten=True)
    name = "max.observed_at_ms"
    known = actions.column(name).to_pylist() if name in actions.schema.names else []
    values = [value for value in known if value is not None]
    return datetime.fromtimestamp(max(values) / 1000, UTC) if values else None
