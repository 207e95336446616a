"""Rows of the journal, read: what is open, and what was sent of late."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from typing import Any

from alerts.incident import IncidentSubject
from alerts.reconciliation import KnownIncident


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


def list_open(connection: sqlite3.Connection, cluster: str) -> list[KnownIncident]:
    """The incidents that were open at the last look."""
    sql = (
        "SELECT id, rule, severity, kind, names, started_ms, opened_ms FROM incidents "
        "WHERE closed_ms IS NULL ORDER BY opened_ms, id"
    )
    return [
        KnownIncident(
            id_,
            cluster,
            rule,
            severity,
            IncidentSubject(kind, tuple(json.loads(names))),
            read_ms(started),
            read_ms(opened),
        )
        for id_, rule, severity, kind, names, started, opened in connection.execute(sql)
    ]


def write_ms(at: datetime) -> int:
    """For the file."""
    return round(at.timestamp() * 1000)


def read_ms(value: int) -> datetime:
    """From the file."""
    return datetime.fromtimestamp(value / 1000, UTC)
