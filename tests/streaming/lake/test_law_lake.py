"""The law on real Delta tables: crashes between any two commits, other cuts, replays, rebuilds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from deltalake.transaction import AddAction

from bench.records import make_records
from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.table import Table
from streaming.batch import Fold
from streaming.fold.intervals import IntervalFold
from streaming.lake.lake import Lake
from streaming.lake.new_files import NewFile
from streaming.lake.progress import read_progress
from streaming.lake.writer import Mark
from streaming.rebuild import check_names, rebuild
from tests.delta_tables.readers import check_readers
from tests.reference.fold.exits import find_exits
from tests.reference.fold.generator import generate
from tests.reference.fold.offset_lag import fold_lag
from tests.reference.fold.pauses import fold_pauses
from tests.reference.fold.presence import follow
from tests.reference.fold.rebalances import fold_rebalances
from tests.reference.fold.tables import fold_events
from tests.streaming.fold import test_group_law as group_law
from tests.streaming.fold.driving import keep
from tests.streaming.fold.test_law import NAMES, explain, sort_rows
from zklake.events.envelope import Event, Gap, encode

CLUSTER = "law"
TOPIC = f"zklake.{CLUSTER}"
Row = dict[str, Any]


class Crash(Exception):
    """Stands for kill -9 between two commits."""


class CrashingLake(Lake):
    """Dies before its first commit into one table."""

    victim = ""

    def replace_shards(self, fold: IntervalFold, mark: Mark, files: Sequence[NewFile] = ()) -> None:
        self._fail(fold.table)
        super().replace_shards(fold, mark, files)

    def commit_rows(self, table: Table, files: list[AddAction], mark: Mark) -> None:
        self._fail(table)
        super().commit_rows(table, files, mark)

    def append_events(self, files: list[AddAction], mark: Mark) -> None:
        self._fail(TABLE_BY_NAME["znode_events"])
        super().append_events(files, mark)

    def _fail(self, table: Table) -> None:
        if table.name == self.victim:
            raise Crash


def make_log(seed: int, length: int) -> list[Event]:
    """A generated log as it stands in Kafka: what the stream itself would say is not in it."""
    events: dict[int, Event] = {}
    for event in generate(seed, CLUSTER, length):
        if event.op not in ("seq_hole", "seq_repeat"):
            events.setdefault(event.seq, event)
    return [events[seq] for seq in sorted(events)]


class Kafka:
    """The log, folded from any offset on as a stream that just started would."""

    def __init__(self, lake: Path, events: Sequence[Event]) -> None:
        self.path = str(lake)
        self.values = [encode(event) for event in events]
        Lake(self.path, CLUSTER).create_tables()

    def fold(self, size: int, lake: Lake | None = None, most: int = 1_000) -> None:
        """Start from the lake's watermark and fold on, so many records a batch."""
        progress = read_progress(self.path, CLUSTER, TOPIC)
        fold = Fold(lake or Lake(self.path, CLUSTER), progress, TOPIC)
        starts = range(progress.offset or 0, len(self.values), size)
        for start in starts[:most]:
            values = self.values[start : start + size]
            fold.fold_batch(make_records(values, start))
        if len(starts) <= most:
            fold.finish()

    def crash(self, size: int, victim: str) -> None:
        """Die before the first commit into a table, then go on with one smaller batch."""
        lake = CrashingLake(self.path, CLUSTER)
        lake.victim = victim
        with pytest.raises(Crash):
            self.fold(size, lake)
        self.fold(size - 9, most=1)

    def read(self, name: str) -> list[Row]:
        return sort_rows(reading.read_rows(self.path, CLUSTER, f"SELECT * FROM {name}"))[CLUSTER]


def tell_holes(events: Sequence[Event]) -> list[Event]:
    """The log with the stream's own word on what is missing from it."""
    told = [events[0]]
    for offset, (before, event) in enumerate(pairwise(events), start=1):
        if missed := event.seq - before.seq - 1:
            gap = Gap(f"seq_hole-{offset}", "seq_hole", from_ms=before.observed_at_ms)
            hole = Event(
                event.cluster, event.log_id, event.seq - 1, "seq_hole", event.observed_at_ms
            )
            told.append(msgspec.structs.replace(hole, path="/", gap=gap, missed=missed))
        told.append(event)
    return told


def expect(events: Sequence[Event]) -> dict[str, list[Row]]:
    tables = fold_events(tell_holes(events))
    return {name: sort_rows(tables[name])[CLUSTER] for name in NAMES}


def expect_of_groups(events: Sequence[Event]) -> dict[str, list[Row]]:
    told = tell_holes(events)
    moments = follow(keep(told), group_law.find_session_closes(told))
    exits = find_exits(fold_events(told), keep(told), moments)
    tables = {**fold_lag(moments), "rebalances": fold_rebalances(moments, exits)}
    return {**tables, "consumption_pauses": fold_pauses(moments, tables["offset_lag"])}


def compare(kafka: Kafka, wanted: dict[str, list[Row]]) -> None:
    for name, rows in wanted.items():
        assert rows, f"the log says nothing of {name}"
        if name in NAMES:
            assert kafka.read(name) == rows, f"{name}: {explain(kafka.read(name), rows)}"
        else:
            got, theirs = (group_law.sort_rows(each) for each in (kafka.read(name), rows))
            assert group_law.explain(got, theirs) is None, name


# Every table that a stream commits; the last is znode_events.
# A log that says something of every table.
SEED, LENGTH = 61, 180
VICTIMS = tuple(t.name for t in TABLES if t.name not in ("quarantine", "lag_rollups"))


@cache
def expect_all(seed: int, length: int) -> tuple[list[Event], dict[str, list[Row]]]:
    events = make_log(seed, length)
    return events, {**expect(events), **expect_of_groups(events)}


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_crash_at_any_commit_changes_nothing(victim: str, tmp_path: Path) -> None:
    events, wanted = expect_all(SEED, LENGTH)
    kafka = Kafka(tmp_path, events)
    kafka.crash(35, victim)
    kafka.fold(41)
    compare(kafka, wanted)


def test_crashes_other_cuts_replays_and_a_rebuild(tmp_path: Path) -> None:
    events, wanted = expect_all(SEED, LENGTH)
    kafka = Kafka(tmp_path, events)
    # An input, the second table of a fold, a dependent of the first, and the last to commit.
    for victim in ("controller", "log_ends", "broker_membership", "znode_events"):
        kafka.crash(35, victim)
    kafka.fold(41)
    compare(kafka, wanted)

    versions = {name: t.version() for name, t in reading.open_tables(kafka.path, CLUSTER).items()}
    kafka.fold(10)
    replay = Fold(Lake(kafka.path, CLUSTER), read_progress(kafka.path, CLUSTER, TOPIC), TOPIC)
    replay.fold_batch(make_records(kafka.values))
    for name, table in reading.open_tables(kafka.path, CLUSTER).items():
        assert table.version() == versions[name], f"a replay wrote {name}"
    check_readers(kafka.path, CLUSTER)

    counts = rebuild(Lake(kafka.path, CLUSTER), check_names(()), TOPIC, lambda _: None)
    compare(kafka, wanted)
    assert counts == {name: len(rows) for name, rows in wanted.items()}
    appended = {table.name for table in TABLES if not table.is_interval}
    assert {table.name for table in TABLES} == {*counts, *appended}


def test_open_rows_that_lie_otherwise_are_taken_over(tmp_path: Path) -> None:
    """As an older zklake laid them, or a rebuild: in files that are no shards."""
    events, wanted = expect_all(SEED, LENGTH)
    kafka = Kafka(tmp_path, events)
    kafka.fold(35, most=2)
    rebuild(Lake(kafka.path, CLUSTER), check_names(()), TOPIC, lambda _: None)
    opened = [
        path
        for table in reading.open_tables(kafka.path, CLUSTER).values()
        for path in table.file_uris()
        if "/is_open=true/" in path
    ]
    assert opened
    assert not [path for path in opened if "/shard-" in path]
    kafka.fold(41)
    compare(kafka, wanted)
    rebuild(Lake(kafka.path, CLUSTER), check_names(()), TOPIC, lambda _: None)
    compare(kafka, wanted)


def test_shards_follow_the_size_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With shards of two rows: they are divided as rows come, and joined again as they go."""
    monkeypatch.setattr("streaming.fold.open_rows.SHARD_ROWS", 2)
    events, wanted = expect_all(SEED, LENGTH)
    kafka = Kafka(tmp_path, events)
    most = 0
    for _ in range(0, len(events), 20):
        kafka.fold(20, most=1)
        for name, table in reading.open_tables(kafka.path, CLUSTER).items():
            files = [path for path in table.file_uris() if "/is_open=true/" in path]
            counts = {int(n) for path in files for n in re.findall(r"/shard-\d+-of-(\d+)-", path)}
            assert len(counts) <= 1, f"{name} has shards of several layouts"
            most = max(most, *counts, 0)
    kafka.fold(41)
    assert most >= 4
    compare(kafka, wanted)
