"""The lakes that pages are measured on: one of a month, and one of very many groups. Both go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from bench.aged_lake import Size, age_lake
from bench.generated import CLUSTER, GeneratedLake
from bench.lag_fold import GROUPS_CLUSTER, GroupLog
from bench.records import make_records
from delta_tables.catalog import TABLE_BY_NAME

_ROUNDS = 3
# What a commit between two requests changes.
_FEW = 100


class PageLake(NamedTuple):
    """A lake, somebody to ask for, and a batch more whenever it is called."""

    says: str
    path: str
    cluster: str
    group: str
    topic: str
    commit: Callable[[], object]


def make_lakes(directory: Path, *, quick: bool) -> Iterator[PageLake]:
    """One after the other."""
    yield _make_aged(directory / "aged", quick=quick)
    yield _make_groups(directory / "groups", quick=quick)


def _make_aged(path: Path, *, quick: bool) -> PageLake:
    """Maintained: its log and files are as a stream keeps them."""
    from streaming.maintenance.retention import Policy
    from streaming.maintenance.upkeep import maintain

    size = Size(days=3, beats=240, slots=10, commits=30, topics=20, groups=10)
    size = size if quick else Size(slots=20, commits=300)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    aged = GeneratedLake(path, age_lake(path, CLUSTER, size, last_day=yesterday))
    while any(
        outcome.action not in ("vacuum", "clean")
        for outcome in list(maintain(str(path), CLUSTER, TABLE_BY_NAME, Policy()))
    ):
        pass
    aged.start()
    says = f"{size.days} days old"
    return PageLake(says, str(path), CLUSTER, "group-0", "topic-0", aged.fold_batch)


def _make_groups(path: Path, *, quick: bool) -> PageLake:
    """Commits and log ends of all of them in a few rounds; then of a few in each."""
    from streaming.batch import Fold
    from streaming.lake.lake import Lake
    from streaming.lake.progress import LakeProgress

    groups, partitions = (300, 1_000) if quick else (10_000, 24_000)
    log = GroupLog(groups, partitions)
    lake = Lake(str(path), GROUPS_CLUSTER)
    lake.create_tables()
    fold = Fold(lake, LakeProgress(), f"zklake.{GROUPS_CLUSTER}")
    numbers = iter(range(10**6))

    def commit(most: int = _FEW) -> None:
        offset = log.written
        fold.fold_batch(make_records(log.make_round(next(numbers), most), offset))

    for _ in range(_ROUNDS):
        commit(10**6)
    says = f"{groups:,} groups × 10 partitions"
    return PageLake(says, str(path), GROUPS_CLUSTER, "group-00001", "topic-0001", commit)
