"""What a table looks like on disk: its files by partition, and what nobody needs any more."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from delta_tables import reading
from delta_tables.table import Table
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.fold.frames import Frames
from zklake.events.envelope import Event, Frame

_FRAME_DAYS = 3


@dataclass(frozen=True)
class TablePartition:
    """One partition; a table without any has one part."""

    values: Mapping[str, Any]
    files: int
    bytes: int
    # Of znode_events: the smallest and the largest seq in it.
    first_seq: int | None
    last_seq: int | None


@dataclass(frozen=True)
class TableSurvey:
    """One look at a table."""

    properties: Mapping[str, str | None]
    parts: tuple[TablePartition, ...]
    # Files that no snapshot younger than the retention needs; of the log, only on local disk.
    dead_files: int
    dead_log_files: int
    # By transaction id: up to which seq records may be missing.
    marks: Mapping[str, int]


def look_at(
    table: Table, delta: DeltaTable, keep_hours: int, marks: tuple[str, ...] = ()
) -> TableSurvey:
    """Look at a table; changes nothing."""
    found = {mark: delta.transaction_version(mark) for mark in marks}
    dead = delta.vacuum(keep_hours, dry_run=True, enforce_retention_duration=False, full=True)
    return TableSurvey(
        delta.metadata().configuration,
        find_parts(table, delta),
        len(dead),
        len(find_dead_log(delta.table_uri, keep_hours)),
        {mark: seq for mark, seq in found.items() if seq is not None},
    )


def find_parts(table: Table, delta: DeltaTable) -> tuple[TablePartition, ...]:
    """The partitions of a table, by their values."""
    actions = delta.get_add_actions(flatten=True)
    columns = {name: actions.column(name).to_pylist() for name in actions.schema.names}
    keys = list(
        zip(*(columns[f"partition.{name}"] for name in table.partition_by), strict=True)
    ) or [()] * len(columns["path"])
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    firsts, lasts = (columns.get(f"{end}.seq", [None] * len(keys)) for end in ("min", "max"))
    return tuple(
        TablePartition(
            dict(zip(table.partition_by, key, strict=True)),
            len(numbers),
            sum(columns["size_bytes"][n] for n in numbers),
            min((firsts[n] for n in numbers if firsts[n] is not None), default=None),
            max((lasts[n] for n in numbers if lasts[n] is not None), default=None),
        )
        for key, numbers in groups.items()
    )


def find_dead_log(table_uri: str, keep_hours: float) -> list[Path]:
    """Files of the log older than so many hours, and older than a checkpoint that is as old."""
    directory = find_log_directory(table_uri)
    if directory is None:
        return []
    cutoff = time.time() - keep_hours * 3600
    old: list[tuple[int, str]] = []
    for entry in os.scandir(directory):
        if entry.name[:20].isdigit() and entry.stat().st_mtime < cutoff:
            old.append((int(entry.name[:20]), entry.name))
    checkpoint = max((v for v, name in old if ".checkpoint" in name), default=-1)
    return [directory / name for version, name in old if version < checkpoint]


def find_log_directory(table_uri: str) -> Path | None:
    """A table's _delta_log, if it lies on local disk."""
    path = table_uri.removeprefix("file://")
    return None if "://" in path else Path(path) / "_delta_log"


def find_newest_frame(events: DeltaTable, today: date) -> int | None:
    """Where the newest complete look at the whole tree begins."""
    # Frames come daily: the last days are asked first, not the whole history.
    recent = f"observed_on >= DATE '{today - timedelta(days=_FRAME_DAYS)}'"
    found = _follow_frames(events, recent)
    return _follow_frames(events, "true") if found is None else found


def _follow_frames(events: DeltaTable, where: str) -> int | None:
    sql = (
        "SELECT cluster, log_id, seq, op, observed_at_ms, frame['id'] AS id FROM znode_events "
        f"WHERE op IN ('frame_begin', 'in_sync', 'seq_hole') AND {where} ORDER BY seq"
    )
    frames = Frames()
    for row in reading.query_rows({ZNODE_EVENTS.name: events}, sql):
        name = row.pop("id")
        frames.follow(Event(**row, frame=Frame(name) if name else None))
    return None if frames.last_complete_begin < 0 else frames.last_complete_begin


def find_now(events: DeltaTable) -> datetime:
    """The time of the lake's last event, for the same reason as find_today."""
    actions: Any = events.get_add_actions(flatten=True)
    name = "max.observed_at_ms"
    times_ms = actions.column(name).to_pylist() if name in actions.schema.names else []
    last_ms = max((ms for ms in times_ms if ms is not None), default=0)
    today = datetime.combine(find_today(events), datetime.min.time(), UTC)
    return min(datetime.now(UTC), max(today, datetime.fromtimestamp(last_ms / 1000, UTC)))


def find_today(events: DeltaTable) -> date:
    """The date of the lake's last event: a clock that runs ahead must not make anything old."""
    today = datetime.now(UTC).date()
    parts = find_parts(ZNODE_EVENTS, events)
    dates = [part.values["observed_on"] for part in parts if part.values["observed_on"]]
    return min(today, max(dates, default=today))
