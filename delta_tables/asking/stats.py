"""How large a lake is and how far it has come, by its Delta logs; rows are not read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.tables.znode_events import ZNODE_EVENTS


@dataclass(frozen=True)
class TableStats:
    """One table of a lake."""

    table: str
    files: int
    bytes: int
    rows: int
    # Null for tables whose rows do not open and close.
    open_rows: int | None
    commits: int
    # Null on an object store.
    log_files: int | None
    # The last seq that is in it; null for quarantine, and before anything is folded.
    seq: int | None


@dataclass(frozen=True)
class LakeStats:
    """A cluster's lake. The watermark is the largest seq of znode_events."""

    log_id: str | None
    watermark: int | None
    watermark_at: datetime | None
    tables: tuple[TableStats, ...]


def measure_lake(lake: str, cluster: str) -> LakeStats:
    """Measure every table that the lake holds."""
    tables = reading.open_tables(lake, cluster)
    actions = {name: _read_actions(delta) for name, delta in tables.items()}
    last = _find_last(tables, actions)
    log_id = last.get("log_id")
    return LakeStats(
        log_id,
        last.get("seq"),
        datetime.fromtimestamp(last["observed_at_ms"] / 1000, UTC) if last else None,
        tuple(
            _measure(name, delta, actions[name], log_id, last.get("seq"))
            for name, delta in tables.items()
        ),
    )


def _read_actions(delta: DeltaTable) -> dict[str, list[Any]]:
    actions = delta.get_add_actions(flatten=True)
    return {name: actions.column(name).to_pylist() for name in actions.schema.names}


def _find_last(
    tables: dict[str, DeltaTable], actions: dict[str, dict[str, list[Any]]]
) -> dict[str, Any]:
    """The newest record, found by the files' statistics."""
    name = ZNODE_EVENTS.name
    seqs = [seq for seq in actions.get(name, {}).get("max.seq", ()) if seq is not None]
    if not seqs:
        return {}
    sql = f"SELECT log_id, seq, observed_at_ms FROM {name} WHERE seq = {max(seqs)} LIMIT 1"  # noqa: S608
    return reading.query_rows({name: tables[name]}, sql)[0]


def _measure(
    name: str,
    delta: DeltaTable,
    actions: dict[str, list[Any]],
    log_id: str | None,
    watermark: int | None,
) -> TableStats:
    table = TABLE_BY_NAME[name]
    counts = [count or 0 for count in actions["num_records"]]
    open_rows = seq = None
    if table.is_interval:
        is_open = actions.get("partition.is_open", [False] * len(counts))
        open_rows = sum(count for count, flag in zip(counts, is_open, strict=True) if flag)
        seq = delta.transaction_version(log_id) if log_id is not None else None
    elif table == ZNODE_EVENTS:
        seq = watermark
    return TableStats(
        name,
        len(counts),
        sum(actions["size_bytes"]),
        sum(counts),
        open_rows,
        delta.version() + 1,
        _count_log_files(delta.table_uri),
        seq,
    )


def _count_log_files(uri: str) -> int | None:
    path = uri.removeprefix("file://")
    if "://" in path:
        return None
    return sum(1 for entry in (Path(path) / "_delta_log").iterdir() if entry.is_file())
