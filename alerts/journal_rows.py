"""Rows of the journal, read: what is open, and what was sent of late."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from typing import Any

from alerts.incident import Incident, IncidentSubject

_COLUMNS = "id, rule, severity, kind, names, started_ms, opened_ms, closed_ms"


def list_deliveries(connection: sqlite3.Connection, most: int) -> list[dict[str, Any]]:
    """The last messages, the newest first."""
    names = ("id", "incident_id", "notifier", "event", "state", "attempts", "error")
    sql = (
        "SELECT id, incident_id, notifier, event, state, attempts, error, created_ms, done_ms "
        "FROM deliveries ORDER BY rowid DESC LIMIT ?"
    )
    return [
        {
            **dict(zip(names, row, strict=False)),
            "created_at": read_ms(row[-2]),
            "done_at": None if row[-1] is None else read_ms(row[-1]),
        }
        for row in connection.execute(sql, (most,))
    ]


def list_open(connection: sqlite3.Connection, cluster: str) -> list[Incident]:
    """The incidents that were open at the last look."""
    sql = f"SELECT {_COLUMNS} FROM incidents WHERE closed_ms IS NULL ORDER BY opened_ms, id"  # noqa: S608
    return [_read(cluster, row) for row in connection.execute(sql)]


def list_past(
    connection: sqlite3.Connection, cluster: str, since: datetime, most: int
) -> list[Incident]:
    """The incidents that closed since then, the newest first."""
    sql = f"SELECT {_COLUMNS} FROM incidents WHERE closed_ms >= ? "  # noqa: S608
    sql += "ORDER BY opened_ms DESC, id LIMIT ?"
    return [_read(cluster, row) for row in connection.execute(sql, (write_ms(since), most))]


def read_looked_at(connection: sqlite3.Connection) -> datetime | None:
    """How far the last look at the lake went."""
    (ms,) = connection.execute("SELECT max(horizon_ms) FROM looks").fetchone()
    return None if ms is None else read_ms(ms)


def _read(cluster: str, row: tuple[Any, ...]) -> Incident:
    id_, rule, severity, kind, names, started, opened, closed = row
    return Incident(
        id_,
        cluster,
        rule,
        severity,
        IncidentSubject(kind, tuple(json.loads(names))),
        read_ms(started),
        read_ms(opened),
        ended_at=None,
        closed_at=None if closed is None else read_ms(closed),
        # Of how many spells and by what evidence, the next look finds again.
        spells=0,
        evidence={},
    )


def write_ms(at: datetime) -> int:
    """For the file."""
    return round(at.timestamp() * 1000)


def read_ms(value: int) -> datetime:
    """From the file."""
    return datetime.fromtimestamp(value / 1000, UTC)
