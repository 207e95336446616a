"""All queries of one request answer from one state of the lake, whatever is committed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from delta_tables.asking.cancellation import Cancellation
from delta_tables.asking.question import Limits
from delta_tables.live.opener import Opener
from delta_tables.live.reader import Reader
from delta_tables.live.snapshot import Source
from delta_tables.live.tables import Tables
from streaming.lake.writer import Mark
from tests.delta_tables.live.growing_lake import CLUSTER, NUMBERS, GrowingLake, read_numbers

LIMITS = Limits(timeout_s=120)


@pytest.fixture
def grown(tmp_path: Path) -> GrowingLake:
    lake = GrowingLake(str(tmp_path))
    lake.fold_batch()
    return lake


@pytest.fixture(params=["in this process", "in another"])
def source(request: pytest.FixtureRequest, grown: GrowingLake) -> Iterator[Source]:
    if request.param == "in this process":
        yield Opener(grown.path, CLUSTER)
        return
    reader = Reader(grown.path, CLUSTER, LIMITS)
    yield reader
    reader.close()


def test_a_request_sees_one_batch_in_every_table(grown: GrowingLake, source: Source) -> None:
    tables = Tables(grown.path, CLUSTER, look_every_s=0, source=source)
    seen: list[int] = []
    with grown.growing():
        while len(set(seen)) < 5:
            numbers = tables.read(lambda still: read_numbers(still, rounds=2))
            assert len(numbers) == 2 * len(NUMBERS)
            assert len(set(numbers)) == 1, numbers
            seen.append(numbers[0])
    assert seen == sorted(seen)
    assert tables.read(read_numbers) == [grown.number] * len(NUMBERS)


def test_a_bound_snapshot_stays_while_the_lake_goes_on(grown: GrowingLake, source: Source) -> None:
    tables = Tables(grown.path, CLUSTER, look_every_s=0, source=source)
    tables.look()
    bound = tables.bind(Cancellation())
    for _ in range(6):
        grown.fold_batch()
        tables.look()
    assert read_numbers(bound) == [1] * len(NUMBERS)
    assert read_numbers(tables) == [7] * len(NUMBERS)
    assert bound.versions["topics"] < tables.versions["topics"]


def test_a_batch_that_is_half_committed_is_not_seen(
    grown: GrowingLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the stream commits: a table first, then znode_events."""
    tables = Tables(grown.path, CLUSTER, look_every_s=0)
    tables.look()
    lake = grown._fold.lake
    append = lake.append_events
    versions = []

    def look_before(files: list[object], mark: Mark) -> None:
        versions.append(tables.look()["topics"])
        append(files, mark)  # type: ignore[arg-type]

    monkeypatch.setattr(lake, "append_events", look_before)
    before = tables.versions["topics"]
    grown.fold_batch()
    assert versions == [before]
    assert tables.look()["topics"] > before


def test_a_stream_that_ended_between_two_commits_is_read_up_to_its_last_event(
    grown: GrowingLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as ending:
        ending.setattr(grown._fold.lake, "append_events", lambda *given: None)
        grown.fold_batch()
    tables = Tables(grown.path, CLUSTER, look_every_s=0)
    assert tables.read(read_numbers) == [1] * len(NUMBERS)


def test_a_table_that_stays_ahead_hides_nothing_for_long(
    grown: GrowingLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows how: the versions before are of no use, either."""
    opener = Opener(grown.path, CLUSTER)
    before = opener.look()
    monkeypatch.setattr("delta_tables.live.opener._STEPS_BACK", 1)
    monkeypatch.setattr("delta_tables.live.opener._is_ahead", lambda opened, watermark: True)
    grown.fold_batch()
    assert opener.look() == before
    monkeypatch.setattr("delta_tables.live.opener._LONGEST_TORN_S", 0.0)
    assert opener.look().tables["topics"].version > before.tables["topics"].version


def test_files_that_were_cleaned_away_make_a_request_begin_again(grown: GrowingLake) -> None:
    tables = Tables(grown.path, CLUSTER, look_every_s=0)
    seen = []

    def make(still: Tables) -> list[int]:
        seen.append(still.versions["topics"])
        if len(seen) == 1:
            grown.fold_batch()
            for name in ("topics", "partition_state"):
                table = Opener(grown.path, CLUSTER)._rings[name].look()
                assert table is not None
                table.table.vacuum(0, dry_run=False, enforce_retention_duration=False)
        return read_numbers(still)

    assert tables.read(make) == [2] * len(NUMBERS)
    assert seen[1] > seen[0]
