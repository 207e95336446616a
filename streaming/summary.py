"""What a batch holds, learned in one job: which tables it touches, how far it goes, its frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from delta_tables.table import Table
from streaming.marks import Closure, touches
from streaming.progress import HEARTBEAT_MS, Progress


@dataclass(frozen=True)
class Summary:
    """Plain numbers about one batch of parsed records."""

    bad: int
    good: int
    # Good records beyond the watermark, heartbeats left out.
    fresh: int
    last_seq: int | None
    # The logs that the records beyond the watermark belong to.
    log_ids: tuple[str, ...]
    # The last seq that concerns each interval table.
    touched: dict[str, int | None]
    heartbeat_minute: int
    observed_at_ms: int | None
    last_bad_offset: int | None
    frames: dict[str, int]
    closures: tuple[Closure, ...]


def summarise(events: DataFrame, tables: Sequence[Table], progress: Progress) -> Summary:
    """Look once at a batch of parsed records (held in memory)."""
    fresh = f"reason IS NULL AND seq > {progress.seq}"
    columns = {
        "bad": "count_if(reason IS NOT NULL)",
        "good": "count_if(reason IS NULL)",
        "fresh": f"count_if({fresh} AND op <> 'heartbeat')",
        "last_seq": "max(IF(reason IS NULL, seq, NULL))",
        "log_ids": f"collect_set(IF({fresh}, log_id, NULL))",
        "last_beat_ms": "max(IF(reason IS NULL AND op = 'heartbeat', observed_at_ms, -1))",
        "observed_at_ms": "max(IF(reason IS NULL, observed_at_ms, NULL))",
        "last_bad_offset": "max(IF(reason IS NOT NULL, kafka_offset, NULL))",
        "frames": "sort_array(collect_list(IF(reason IS NULL AND op IN ('frame_begin', 'in_sync'), "
        "struct(seq, op, cluster, observed_at_ms, frame), NULL)))",
        **{
            f"last_{table.name}": f"max(IF(reason IS NULL AND {touches(table)}, seq, NULL))"
            for table in tables
        },
    }
    row = events.agg(*(F.expr(sql).alias(name) for name, sql in columns.items())).first()
    assert row is not None
    frames, closures = _follow_frames(row["frames"], progress.frames)
    return Summary(
        bad=row["bad"],
        good=row["good"],
        fresh=row["fresh"],
        last_seq=row["last_seq"],
        log_ids=tuple(sorted(row["log_ids"])),
        touched={table.name: row[f"last_{table.name}"] for table in tables},
        heartbeat_minute=(row["last_beat_ms"] or -1) // HEARTBEAT_MS,
        observed_at_ms=row["observed_at_ms"],
        last_bad_offset=row["last_bad_offset"],
        frames=frames,
        closures=closures,
    )


def _follow_frames(
    marks: list[Any], begun: dict[str, int]
) -> tuple[dict[str, int], tuple[Closure, ...]]:
    """Where each frame began, and the ends of those that vouch for nothing older."""
    frames, closures = dict(begun), []
    for mark in marks:
        frame = mark["frame"]
        if frame is None:
            continue
        if mark["op"] == "frame_begin":
            frames[frame["id"]] = mark["seq"]
        elif frame["base"] == "none" and frame["id"] in frames:
            begin = frames[frame["id"]]
            closures.append(Closure(mark["cluster"], begin, mark["seq"], mark["observed_at_ms"]))
    return frames, tuple(closures)
