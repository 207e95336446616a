"""Which columns of a table people want to see; the rest is shown on request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

Row = Sequence[Any]

# Beside these: `cluster` where several are asked, and from when to when a row held.
USEFUL: dict[str, tuple[str, ...]] = {
    "log_gaps": ("reason", "path", "lives", "missed"),
    "controller": ("controller_id", "controller_epoch", "kraft_controller_epoch"),
    "broker_membership": ("broker_id", "endpoints", "rack", "broker_epoch", "exit"),
    "topics": ("topic", "partition_count", "replicas", "adding_replicas", "removing_replicas"),
    "partition_state": ("topic", "partition", "leader", "isr", "leader_epoch"),
    "consumer_membership": ("coordinator", "group_id", "member_id", "host", "subscription", "exit"),
    "ownership_history": ("group_id", "topic", "partition", "owner"),
    "consumer_offsets": ("coordinator", "group_id", "topic", "partition", "committed_offset"),
    "admin_operations": ("operation", "topic", "partition", "replicas", "adding_replicas"),
    "config_history": ("entity_type", "entity_name", "client_id", "config_key", "value"),
    "cluster_state": ("name", "path", "cluster_id", "features", "kraft_controller_id", "resource"),
    "consumption_pauses": (
        "group_id",
        "topic",
        "partition",
        "held",
        "owner",
        "broker_id",
        "least_ms",
        "most_ms",
        "records",
    ),
    "offset_lag": (
        "group_id",
        "topic",
        "partition",
        "lag",
        "lag_seconds",
        "velocity",
        "status",
        "status_since",
        "owner",
    ),
    "log_ends": ("topic", "partition", "broker_id", "log_start_offset", "log_end_offset", "error"),
    "rebalances": (
        "group_id",
        "trigger",
        "trigger_member_id",
        "attempts",
        "moved",
        "unowned_ms",
        "duration_ms",
        "outcome",
    ),
}
_VALIDITY = ("valid_from_at", "valid_to_at", "ended_by")


def list_useful(table: str, names: Collection[str], *, many_clusters: bool = False) -> list[str]:
    """The columns to show of a table that has these; of one that is not known here, all."""
    if table not in USEFUL:
        return list(names)
    first = ("cluster",) if many_clusters else ()
    return [name for name in (*first, *USEFUL[table], *_VALIDITY) if name in names]


def read_columns(text: str, table: str, names: Sequence[str]) -> list[str]:
    """What --columns says; QueryError names a column that is not there."""
    from zklake.errors import QueryError
    from zklake.spelling import did_you_mean

    wanted = [name.strip().lower() for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in names:
            near = did_you_mean(name, names) or f"; it has {', '.join(names)}"
            raise QueryError(f"{table} has no column {name!r}{near}")
    if not wanted:
        raise QueryError("--columns names none: give some, as in --columns topic,leader")
    return wanted


def drop_empty(names: Sequence[str], rows: Iterable[Row]) -> tuple[list[str], list[list[Any]]]:
    """The same without columns that say nothing in any row; all of them when there is none.

    Of fractions three digits are enough to look at.
    """
    held = [[round(v, 3) if isinstance(v, float) else v for v in row] for row in rows]
    filled = [n for n, column in enumerate(zip(*held, strict=True)) if any(map(_says, column))]
    kept = filled or range(len(names))
    return [names[n] for n in kept], [[row[n] for n in kept] for row in held]


def _says(value: object) -> bool:
    return value is not None and value not in ("", [], {})
