"""The past in a lake: alone, taken up again after a crash, before a live log, followed by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.records import make_records
from delta_tables import reading
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.backfill import Backfill, Past
from streaming.batch import Fold
from streaming.fold.rules import Rules
from streaming.lake.events import read_all
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.lake.writer import Mark
from streaming.log.identity import accept_log
from streaming.maintenance.retention import SAMPLES_MARK
from streaming.remaking import remake_tables
from tests.reference.fold.tables import fold_events
from tests.streaming.fold.test_law import NAMES, explain, sort_rows
from tests.streaming.past_files import (
    BACK,
    BROKER,
    DIED,
    FIRST_SET,
    LAST,
    STATE,
    LiveLog,
    make_leader,
    write_files,
)
from tests.streaming.story import registration
from tests.watcher.txnlog.telling import Teller
from tests.watcher.txnlog.writing import START_MS
from watcher.txnlog import history as history_module
from watcher.txnlog.numbering import Bounds
from zklake.errors import LakeError
from zklake.events.envelope import TXNLOG_ID, Event, Stat, encode

CLUSTER, TOPIC = "c", "zklake.c"


class Crash(Exception):
    """Stands for kill -9."""


def read_past(lake: Path) -> Past:
    return Backfill(Lake(str(lake), CLUSTER)).read_past()


def fill(lake: Path, files: Path, *, most: int | None = None, last: int | None = None) -> int:
    """As the command does; dies after so many batches. Returns how many transactions were told."""
    backfill = Backfill(Lake(str(lake), CLUSTER))
    past = backfill.read_past()
    bounds = Bounds(past.first_zxid, past.zxid, past.seq, past.at_ms, past.is_known)
    if (live := past.live) is not None:
        bounds = bounds._replace(before_seq=live.seq, before_ms=live.at_ms)
        bounds = bounds._replace(last_zxid=last or live.seen_zxid)
    teller = Teller([files], bounds, start=-1 if past.zxid is None else past.zxid)
    for number, batch in enumerate(teller.history.read()):
        if number == most:
            raise Crash
        backfill.append(batch.events, batch.zxid)
    if teller.history.counts.transactions or not past.is_folded:
        remake_tables(Lake(str(lake), CLUSTER), lambda _: None, Rules(), None)
    return teller.history.counts.transactions


def read_tables(lake: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        name: sort_rows(reading.read_rows(str(lake), CLUSTER, f"SELECT * FROM {name}")).get(
            CLUSTER, []
        )
        for name in NAMES
    }


def read_events(lake: Path) -> list[Event]:
    return [entry.event for entry in read_all(str(lake), CLUSTER, 1 << 53)]


def check_law(lake: Path) -> None:
    """The tables are what the reference makes of the lake's events."""
    wanted = fold_events(read_events(lake))
    for name, rows in read_tables(lake).items():
        right = sort_rows(wanted[name]).get(CLUSTER, [])
        assert rows == right, f"{name}: {explain(rows, right)}"


def stream(lake: Path, events: Sequence[Event]) -> None:
    """Fold a live log, as a stream does that starts at the lake's watermark."""
    Lake(str(lake), CLUSTER).create_tables()
    progress = read_progress(str(lake), CLUSTER, TOPIC)
    if progress.log_id == TXNLOG_ID:
        progress = accept_log(progress)
    fold = Fold(Lake(str(lake), CLUSTER), progress, TOPIC)
    values = [encode(event) for event in events][progress.offset or 0 :]
    fold.fold_batch(make_records(values, progress.offset or 0))
    fold.finish()


def ask(lake: Path, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in reading.read_rows(str(lake), CLUSTER, sql)]


BROKERS = "SELECT valid_from_zxid, valid_to_zxid, ended_by FROM broker_membership ORDER BY 1"
STATES = "SELECT count(*), count(*) FILTER (WHERE is_open), max(leader_epoch) FROM partition_state"


def test_a_new_lake_begins_with_the_past(tmp_path: Path) -> None:
    lake, files = tmp_path / "lake", write_files(tmp_path / "files")
    assert fill(lake, files) == LAST
    check_law(lake)
    assert ask(lake, BROKERS) == [(7, DIED, "session_ended"), (BACK, None, None)]
    assert ask(lake, STATES) == [(21, 1, DIED - 1)]
    reigns = "SELECT controller_id, valid_from_zxid, valid_to_zxid FROM controller ORDER BY 2"
    assert ask(lake, reigns) == [(1, 8, DIED), (None, DIED, None)]
    versions = {n: t.version() for n, t in reading.open_tables(str(lake), CLUSTER).items()}
    assert fill(lake, files) == 0
    assert {n: t.version() for n, t in reading.open_tables(str(lake), CLUSTER).items()} == versions


def test_no_crash_changes_what_comes_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "_BATCH_EVENTS", 5)
    files = write_files(tmp_path / "files")
    whole = tmp_path / "whole"
    fill(whole, files)
    for most in (1, 2, 3):
        lake = tmp_path / str(most)
        while True:
            try:
                fill(lake, files, most=most)
                break
            except Crash:
                continue
        check_law(lake)
        # Each time it is taken up a word more says that the log goes on: the numbers are others.
        for name in ("broker_membership", "partition_state", "controller"):
            assert _drop_seqs(read_tables(lake)[name]) == _drop_seqs(read_tables(whole)[name])


def _drop_seqs(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if not k.endswith("_seq")} for row in rows]


def test_tables_that_a_crash_left_behind_are_made_by_the_next_run(tmp_path: Path) -> None:
    lake, files = tmp_path / "lake", write_files(tmp_path / "files")
    backfill = Backfill(Lake(str(lake), CLUSTER))
    for batch in Teller([files]).history.read():
        backfill.append(batch.events, batch.zxid)
    assert ask(lake, BROKERS) == []
    assert fill(lake, files) == 0
    check_law(lake)
    assert len(ask(lake, BROKERS)) == 2
    assert read_past(lake).is_folded


def test_more_files_go_on_where_the_last_ones_ended(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for last in (12, 20, DIED, LAST):
        fill(lake, write_files(tmp_path / "files", last))
        check_law(lake)
    assert ask(lake, BROKERS) == [(7, DIED, "session_ended"), (BACK, None, None)]
    assert ask(lake, STATES) == [(21, 1, DIED - 1)]
    gaps = "SELECT reason, is_open FROM log_gaps ORDER BY valid_from_seq"
    assert ask(lake, gaps) == [
        ("first_start", False),
        *[("txnlog_end", False)] * 3,
        ("txnlog_end", True),
    ]


def stand_at(zxid: int, version: int) -> Stat:
    """The stat of the partition's state after that write."""
    at_ms = START_MS + 1000 * zxid
    born_ms = START_MS + 9000
    return Stat(9, zxid, 9, born_ms, at_ms, version, 0, 0, 0, len(make_leader(zxid)), 0)


def live_from(zxid: int, *, has_zxid: bool = True) -> LiveLog:
    """A log begun after that write of the partition's state, while the broker lives."""
    value, born_ms = registration(9092).encode(), START_MS + 7000
    broker = Stat(7, 7, 7, born_ms, born_ms, 1, 0, 0, 7, len(value), 0)
    log = LiveLog(zxid, CLUSTER, has_zxid=has_zxid)
    log.scan(
        (BROKER, "broker", value, broker),
        (STATE, "partition_state", make_leader(zxid), stand_at(zxid, zxid - FIRST_SET + 1)),
    )
    for later in range(zxid + 1, DIED):
        stat = stand_at(later, later - FIRST_SET + 1)
        log.change("set", STATE, "partition_state", later, make_leader(later), stat)
    gone = Stat(czxid=7, mzxid=7, version=1, aversion=0, ephemeral_owner=7)
    return log.change("delete", BROKER, "broker", DIED, b"", gone)


def test_past_and_live_log_meet_without_overlap_and_without_a_hole(tmp_path: Path) -> None:
    lake, files = tmp_path / "lake", write_files(tmp_path / "files")
    live = live_from(19)
    stream(lake, live.events)
    before = {row[0] for row in ask(lake, "SELECT leader_epoch FROM partition_state")}
    assert before == set(range(19, DIED))
    start = read_past(lake).live
    assert start is not None
    assert (start.seq, start.zxid, start.unnumbered) == (live.events[0].seq, 20, 0)
    assert fill(lake, files) == 19
    check_law(lake)
    # Every state once, from the first to the last, and one life of the broker.
    epochs = "SELECT leader_epoch, valid_from_zxid, valid_to_zxid FROM partition_state ORDER BY 2"
    assert ask(lake, epochs) == [
        (0, 9, FIRST_SET),
        *((zxid, zxid, zxid + 1 if zxid < DIED - 1 else None) for zxid in range(FIRST_SET, DIED)),
    ]
    assert ask(lake, BROKERS) == [(7, DIED, "session_ended")]
    assert ask(lake, "SELECT reason FROM log_gaps WHERE reason = 'txnlog_end'") == []
    # The stream goes on as if nothing had happened, and nothing is told twice.
    last = live.events[-1]
    assert read_progress(str(lake), CLUSTER, TOPIC).seq == last.seq
    stream(lake, live.events)
    assert fill(lake, files) == 0
    seqs = [row[0] for row in ask(lake, "SELECT seq FROM znode_events ORDER BY seq")]
    assert len(seqs) == len(set(seqs))
    assert seqs[-1] == last.seq


def test_a_log_that_is_born_later_follows_the_past(tmp_path: Path) -> None:
    lake, files = tmp_path / "lake", write_files(tmp_path / "files", last=15)
    fill(lake, files)
    live = live_from(19)
    stream(lake, live.events)
    check_law(lake)
    assert ask(lake, BROKERS) == [(7, DIED, "session_ended")]
    # What neither of them saw is a gap, until the files of that time are read.
    hole = "SELECT valid_from_zxid, is_open FROM log_gaps WHERE reason = 'txnlog_end'"
    assert ask(lake, hole) == [(15, False)]
    assert ask(lake, STATES) == [(1 + 6 + 1 + 10, 1, DIED - 1)]
    fill(lake, write_files(files))
    check_law(lake)
    assert ask(lake, STATES) == [(21, 1, DIED - 1)]
    assert ask(lake, BROKERS) == [(7, DIED, "session_ended")]


def test_the_past_does_not_fit_before_trimmed_records(tmp_path: Path) -> None:
    lake, files = tmp_path / "lake", write_files(tmp_path / "files")
    live = live_from(19)
    stream(lake, live.events)
    writer = Lake(str(lake), CLUSTER).find_writer(ZNODE_EVENTS)
    writer.append_files([], Mark(SAMPLES_MARK, live.events[2].seq))
    with pytest.raises(LakeError, match=r"trimmed.*--lake"):
        fill(lake, files)
    assert ask(lake, f"SELECT count(*) FROM znode_events WHERE log_id = '{TXNLOG_ID}'") == [(0,)]
