"""One partition changes, where 1,000 are open and where 200,000 are: time, bytes, memory.

Each batch holds one event, folded and committed as the stream does; the two lakes take turns.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure, ratio
from bench.records import make_records
from bench.stage import Stage
from bench.znodes import make_state
from zklake.events.envelope import SEQ_PER_SECOND, Event, Stat, encode

_CLUSTER = "bench"
_BORN_MS = 1_794_793_200_000
_FIRST_SEQ = 1_700_000_000 * SEQ_PER_SECOND
_FEW = 1_000
_BATCH = 50_000


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Seconds and bytes of a batch, and what an open row takes of the driver's memory."""
    many, rounds = (10_000, 5) if quick else (200_000, 40)
    small = _Partitions(stage.directory / "few-open", _FEW)
    large = _Partitions(stage.directory / "many-open", many)
    row_bytes = (large.measure_memory() - small.measure_memory()) / (many - _FEW)
    pairs = [(large.change(), small.change()) for _ in range(rounds + 2)][2:]
    slow, fast = ([took for took, _ in each] for each in zip(*pairs, strict=True))
    written = [size / 1000 for (_, size), _ in pairs]
    return [
        ratio(f"one change, {many:,} open ÷ {_FEW:,}", slow, fast, "≤ 1.5"),
        Figure(f"one change, {many:,} open", slow, "s"),
        Figure(f"one change, {_FEW:,} open", fast, "s"),
        Figure(f"bytes written, {many:,} open", written, "kB", "≤ 200"),
        Figure("driver's memory per open row", [row_bytes], "B", "≤ 500"),
    ]


_TAKE_UP = """
import gc, os, sys
from bench.processes import read_rss_bytes
from streaming.fold.rules import Rules
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.lake.recall import read_markers, recall_cluster
from streaming.memory import release_memory

lake = Lake(*sys.argv[1:])
progress = read_progress(lake.path, lake.cluster, "")
fold = recall_cluster(lake, progress.seq, read_markers(lake, progress.log_id), Rules())
gc.collect()
release_memory()
print(read_rss_bytes(os.getpid()))
"""


class _Partitions:
    """A lake in which so many partitions are open, and the fold that holds them."""

    def __init__(self, path: Path, count: int) -> None:
        from streaming.batch import Fold
        from streaming.lake.lake import Lake
        from streaming.lake.progress import LakeProgress

        self._path, self._count, self._number = path, count, 0
        lake = Lake(str(path), _CLUSTER)
        lake.create_tables()
        self._fold = Fold(lake, LakeProgress(), f"zklake.{_CLUSTER}")
        records = list(self._make(count))
        for first in range(0, count, _BATCH):
            self._fold.fold_batch(make_records(records[first : first + _BATCH], first))

    def change(self) -> tuple[float, int]:
        """One partition changes: the seconds it took, and the bytes of the files it wrote."""
        known = self._list_files()
        (record,) = self._make(1)
        began = time.monotonic()
        self._fold.fold_batch(make_records([record], self._number - 1))
        took = time.monotonic() - began
        return took, sum(path.stat().st_size for path in self._list_files() - known)

    def measure_memory(self) -> int:
        """Resident bytes of a process that has just taken up this lake."""
        command = [sys.executable, "-c", _TAKE_UP, str(self._path), _CLUSTER]
        return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    def _list_files(self) -> set[Path]:
        return {path for path in self._path.rglob("*") if path.is_file()}

    def _make(self, count: int) -> Iterator[bytes]:
        for _ in range(count):
            number = self._number
            self._number += 1
            place, version = number % self._count, number // self._count
            at_ms = _BORN_MS + number
            stat = Stat(place + 1, number + 1, ctime=_BORN_MS, mtime=at_ms, version=version)
            path = f"/brokers/topics/topic-{place // 100:05}/partitions/{place % 100}/state"
            event = Event(
                *(_CLUSTER, "bench", _FIRST_SEQ + number, "set", at_ms),
                path=path,
                kind="partition_state",
                zxid=number + 1,
                data=make_state(number).decode(),
                stat=stat,
                origin="watch",
            )
            yield encode(event)
