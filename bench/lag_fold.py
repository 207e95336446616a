"""Commits and log ends of a large cluster, folded into the lake: round by round, as sampled.

Each round commits every partition of every group anew and moves every log end. What a round takes
is held to the sample interval; the same records appended to a Delta table as they are stand beside.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from bench.figures import Figure, ratio
from bench.processes import read_rss_bytes
from bench.records import make_records
from bench.stage import Stage
from zklake.events.envelope import SEQ_PER_SECOND, Event, encode
from zklake.events.samples import Commit, GroupCommits, GroupReading, LogEnd, LogEnds, Round

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streaming.batch import Fold

GROUPS_CLUSTER = "bench"
_INTERVAL_S = 10
_BORN_MS = 1_794_793_200_000
_FIRST_SEQ = 1_700_000_000 * SEQ_PER_SECOND
_PER_GROUP = 10
_PER_TOPIC = 100
_BROKERS = 3
# So many items stand in one record, about what the sampler packs.
_PACKED = 2_000
_WARM_UP = 2
T = TypeVar("T")
_TABLES = ("consumer_offsets", "log_ends", "offset_lag")


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Seconds per round ÷ interval, commits/s, bytes/day."""
    from streaming.batch import Fold
    from streaming.lake.lake import Lake
    from streaming.lake.progress import LakeProgress
    from streaming.session import build_session

    groups, partitions, rounds = (300, 1_000, 7) if quick else (10_000, 24_000, 14)
    spark = build_session("zklake-bench", driver_memory="3g")
    try:
        lake = Lake(str(stage.directory / "lag"), GROUPS_CLUSTER)
        lake.create_tables()
        fold = Fold(lake, LakeProgress(), f"zklake.{GROUPS_CLUSTER}")
        log = GroupLog(groups, partitions)
        took = [_fold_round(spark, fold, log, number, stage) for number in range(rounds + _WARM_UP)]
    finally:
        spark.stop()
    return _report(groups, took[_WARM_UP:], lake.path)


def _fold_round(
    spark: SparkSession, fold: Fold, log: GroupLog, number: int, stage: Stage
) -> tuple[float, float, float]:
    """Seconds of the fold, seconds of a plain append, and our memory in MiB."""
    offset = log.written
    records = make_records(log.make_round(number), offset)
    began = time.monotonic()
    fold.fold_batch(records)
    folded = time.monotonic() - began
    frame = spark.createDataFrame(pa.table({"value": [record.value for record in records]}))
    frame = frame.localCheckpoint()
    began = time.monotonic()
    frame.write.format("delta").mode("append").save(str(stage.directory / "plain"))
    return folded, time.monotonic() - began, read_rss_bytes(os.getpid()) / 2**20


def _report(groups: int, took: list[tuple[float, float, float]], lake: str) -> list[Figure]:
    folded, copied, memory = (list(each) for each in zip(*took, strict=True))
    commits = groups * _PER_GROUP
    share = [seconds / _INTERVAL_S for seconds in folded]
    per_day = 86_400 / (_INTERVAL_S * (len(took) + _WARM_UP)) / 2**20
    return [
        Figure(f"a round of {commits:,} commits ÷ interval", share, "×", "≤ 0.4"),
        Figure("commits folded", [commits / seconds for seconds in folded], "commits/s"),
        Figure("commits appended as they are", [commits / s for s in copied], "commits/s"),
        ratio("plain append ÷ fold, seconds", copied, folded),
        Figure("driver's Python", memory, "MiB"),
        Figure("driver's Python, last ÷ first", [memory[-1] / memory[0]], "×", "flat"),
        *(Figure(f"{name} per day", [per_day * _weigh(lake, name)], "MiB/day") for name in _TABLES),
    ]


def _weigh(lake: str, name: str) -> int:
    """Bytes of the closed rows: the open ones are replaced."""
    table = Path(lake) / GROUPS_CLUSTER / name
    return sum(path.stat().st_size for path in table.glob("is_open=false/**/*.parquet"))


class GroupLog:
    """The records of one round after the other."""

    def __init__(self, groups: int, partitions: int) -> None:
        self._groups, self._partitions = groups, partitions
        self._seq = _FIRST_SEQ

    @property
    def written(self) -> int:
        """Records so far."""
        return self._seq - _FIRST_SEQ

    def make_round(self, number: int, most: int | None = None) -> list[bytes]:
        """First what groups committed, then where the logs end; of so many partitions at most."""
        at_ms = _BORN_MS + 1000 * _INTERVAL_S * number
        commits = _cut(self._list_commits(number, at_ms), most)
        records = [
            self._encode("group_commit", at_ms, group_commit=GroupCommits(c)) for c in commits
        ]
        after_seq = self._seq
        *parts, last = _cut(self._list_ends(number), most)
        ended = Round(
            after_seq,
            brokers_answered=tuple(range(_BROKERS)),
            is_base=number == 0,
            groups=GroupReading("offsets_topic", complete_since_seq=0),
        )
        rounds = [LogEnds(part) for part in parts] + [LogEnds(last, ended)]
        return records + [self._encode("log_ends", at_ms + 500, log_ends=each) for each in rounds]

    def _encode(self, op: str, at_ms: int, **payload: GroupCommits | LogEnds) -> bytes:
        self._seq += 1
        return encode(Event(GROUPS_CLUSTER, "bench", self._seq, op, at_ms, **payload))  # type: ignore[arg-type]

    def _list_commits(self, number: int, at_ms: int) -> Iterator[Commit]:
        for group in range(self._groups):
            for each in range(_PER_GROUP):
                topic, partition = divmod(
                    (group * _PER_GROUP + each) % self._partitions, _PER_TOPIC
                )
                offset = 100 * number + (group + each) % 90
                name = f"topic-{topic:04}"
                yield Commit(f"group-{group:05}", name, partition, offset, commit_at_ms=at_ms)

    def _list_ends(self, number: int) -> Iterator[LogEnd]:
        for each in range(self._partitions):
            topic, partition = divmod(each, _PER_TOPIC)
            yield LogEnd(f"topic-{topic:04}", partition, each % _BROKERS, 0, 100 * (number + 1))


def _cut(items: Iterator[T], most: int | None) -> list[tuple[T, ...]]:
    found = list(islice(items, most))
    return [tuple(found[first : first + _PACKED]) for first in range(0, len(found), _PACKED)]
