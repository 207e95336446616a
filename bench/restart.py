"""How long a watcher needs to be back after very many tree writes: compaction must bound it.

Fills the tree topic of a real log with the same rows over and over, then times `watch --once`. The
control is the same start before that.
"""

from __future__ import annotations

import hashlib
import sys
import time

from msgspec.structs import replace

from bench.figures import Figure, ratio
from bench.stage import Stage, name_cluster
from bench.znodes import list_tree
from watcher.log.batch import Batch
from watcher.log.publisher import Publisher
from watcher.log.resume import Resume, read_tree
from zklake.errors import LabError
from zklake.events.envelope import Event, Meta, TreeRow, encode

_WRITES = 10_000_000
_PATIENCE_S = 600


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Seconds from the start of the process to the committed `in_sync`, before and after."""
    znodes, limit_s, rounds = (5_000, 30, 2) if quick else (20_000, 300, 3)
    root, cluster = stage.make_root(list_tree(znodes)), name_cluster()
    first_s = _start(stage, root, cluster)
    before = [_start(stage, root, cluster) for _ in range(rounds)]
    writes = _overwrite(stage, cluster, limit_s)
    print(f"{writes:,} tree writes", file=sys.stderr)
    after = [_start(stage, root, cluster) for _ in range(rounds)]
    return [
        ratio("restart after ÷ before the writes", after, before),
        Figure("restart after the writes", after, "s", "< 60"),
        Figure("restart before the writes", before, "s"),
        Figure(f"very first start, {znodes:,} znodes", [first_s], "s"),
        Figure("tree writes", [writes], ""),
    ]


def _start(stage: Stage, root: str, cluster: str) -> float:
    """Seconds of one `zklake watch --once`, interpreter and imports included."""
    began = time.monotonic()
    watcher = stage.watch(root, cluster, "--once")
    while watcher.is_alive():
        if time.monotonic() - began > _PATIENCE_S:
            watcher.kill()
        time.sleep(0.01)
    if watcher.exit_code != 0:
        raise LabError(f"watch --once ended with {watcher.exit_code}:\n{watcher.tail()}")
    return time.monotonic() - began


def _overwrite(stage: Stage, cluster: str, limit_s: float) -> int:
    """Write all rows of the tree again and again, the true ones last; returns how many."""
    publisher = Publisher(stage.cluster.bootstrap, {}, cluster)
    publisher.fence()
    rows, meta = _expect(read_tree(stage.cluster.bootstrap, {}, cluster), cluster)
    writes, deadline = 0, time.monotonic() + limit_s
    try:
        while writes < _WRITES and time.monotonic() < deadline:
            meta = replace(meta, seq=meta.seq + 1)
            _publish(publisher, meta, {path: _alter(row, meta.seq) for path, row in rows.items()})
            writes += len(rows)
        _publish(publisher, replace(meta, seq=meta.seq + 1), {**rows})
    finally:
        publisher.close()
    return writes


def _publish(publisher: Publisher, meta: Meta, rows: dict[str, TreeRow | None]) -> None:
    event = Event("bench", meta.log_id, meta.seq, "heartbeat", meta.observed_at_ms)
    publisher.publish(Batch([encode(event)], rows, meta))


def _alter(row: TreeRow, number: int) -> TreeRow:
    """As after another write: equal rows would be compressed to nothing."""
    data_hash = hashlib.blake2b(f"{number} {row.czxid}".encode(), digest_size=8).hexdigest()
    return replace(row, mzxid=number, version=number % 1000, data_hash=data_hash)


def _expect(resume: Resume, cluster: str) -> tuple[dict[str, TreeRow], Meta]:
    if resume.rows is None or resume.meta is None:
        raise LabError(f"the log of {cluster} has no model to go on from: {resume.problem}")
    return resume.rows, resume.meta
