"""A log, folded into a lake by the stream's own fold: no Spark, no broker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.records import make_records
from streaming.batch import Fold
from streaming.fold.rules import Rules
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from zklake.events.envelope import Event, encode

CLUSTER = "c"


def fold_lake(path: Path, events: Sequence[Event], rules: Rules | None = None) -> str:
    """The lake that holds them, of the cluster that they name."""
    lake, cluster = str(path), events[0].cluster
    topic = f"zklake.{cluster}"
    Lake(lake, cluster).create_tables()
    fold = Fold(Lake(lake, cluster), read_progress(lake, cluster, topic), topic, rules=rules)
    fold.fold_batch(make_records([encode(event) for event in events], 0))
    fold.finish()
    return lake
