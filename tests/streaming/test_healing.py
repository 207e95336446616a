"""Values put into a log that was streamed without them: as if they had been read in time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from delta_tables import reading
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.fold.rules import Rules
from streaming.healing import Healing
from streaming.lake.lake import Lake
from streaming.lake.rewriting import list_files
from streaming.lake.writer import Mark
from streaming.maintenance.retention import SAMPLES_MARK
from streaming.remaking import is_made, remake_tables
from tests.streaming.past_files import BACK, BROKER, DIED, STATE, LiveLog, write_files
from tests.streaming.story import registration
from tests.streaming.test_backfill import (
    BROKERS,
    CLUSTER,
    Crash,
    ask,
    check_law,
    fill,
    live_from,
    read_events,
    read_past,
    read_tables,
    stream,
)
from tests.watcher.txnlog.telling import REDACTOR
from tests.watcher.txnlog.writing import SESSION, START_MS
from watcher.sealing import Sealing
from watcher.txnlog import healing as healing_module
from watcher.txnlog.files import find_files
from watcher.txnlog.healing import Healer
from watcher.txnlog.walk import Walk
from zklake.errors import LakeError
from zklake.events.envelope import Event, Gap, Stat

# Writes of the partition's state that nobody could read, between some that were read.
LOST = (20, 22, 23, 27)
EPOCHS = "SELECT leader_epoch, valid_from_zxid, unseen_versions FROM partition_state ORDER BY 2"


def live_until_back() -> LiveLog:
    """A log from the middle of the files' time on; in the end the broker comes back, in one multi:
    of its create the watcher reads the outcome alone.
    """
    log, born_ms = live_from(19), START_MS + 1000 * BACK
    owned = {"czxid": BACK, "mzxid": BACK, "aversion": 0, "ephemeral_owner": 8}
    log.change("create", BROKER, "broker", BACK, b"", Stat(**owned, version=0))
    value = registration(9092).encode()
    stat = Stat(BACK, BACK, BACK, born_ms, born_ms, 1, 0, 0, 8, len(value), 0)
    log.change("set", BROKER, "broker", BACK, value, stat)
    log.events[-2] = msgspec.structs.replace(log.events[-2], data=None)
    return log


def lose(events: Sequence[Event], *, has_zxid: bool = True) -> list[Event]:
    """As a watcher tells them that came too late for some values; before 3.9 also without zxid."""
    return [
        _forget(event, has_zxid)
        if event.op == "create" or (event.path == STATE and event.zxid in LOST)
        else event
        for event in events
    ]


def _forget(event: Event, has_zxid: bool) -> Event:
    assert event.stat is not None
    stat, zxid = event.stat, event.zxid if has_zxid else None
    known = Stat(czxid=stat.czxid, mzxid=zxid, version=stat.version, aversion=0, ephemeral_owner=0)
    return msgspec.structs.replace(event, data=None, fidelity="superseded", stat=known, zxid=zxid)


def heal(lake: Path, files: Path, *, most: int | None = None) -> int:
    """As the command does; dies after so many batches. Returns how many events got a value."""
    held, count = Lake(str(lake), CLUSTER), 0
    healing = Healing(held)
    walk = Walk(find_files([files]), "", print)
    batches = Healer(walk, Sealing(REDACTOR, 900_000), healing.read_unread(), print).heal()
    for number, events in enumerate(filter(None, batches)):
        if number == most:
            raise Crash
        assert healing.put(events) == len(events)
        count += len(events)
    if most is not None:
        raise Crash
    if not is_made(held):
        remake_tables(held, lambda _: None, Rules(), None)
    return count


def read_versions(lake: Path) -> dict[str, int]:
    return {name: t.version() for name, t in reading.open_tables(str(lake), CLUSTER).items()}


@pytest.mark.parametrize("has_zxid", [True, False], ids=["3.9", "older"])
def test_a_healed_lake_is_one_that_was_never_ill(has_zxid: bool, tmp_path: Path) -> None:
    lake, well, files = tmp_path / "lake", tmp_path / "well", write_files(tmp_path / "files")
    log = live_until_back().events
    stream(well, log)
    stream(lake, lose(log, has_zxid=has_zxid))
    assert [row for row in ask(lake, EPOCHS) if row[2]] == [(21, 21, 1), (24, 24, 2), (28, 28, 1)]
    assert heal(lake, files) == len(LOST) + 1
    check_law(lake)
    assert {row[2] for row in ask(lake, EPOCHS)} == {0}
    assert read_tables(lake) == read_tables(well)
    assert ask(lake, BROKERS) == [(7, DIED, "session_ended"), (BACK, None, None)]
    versions = read_versions(lake)
    assert heal(lake, files) == 0
    assert read_versions(lake) == versions


def test_an_event_says_where_its_value_is_from(tmp_path: Path) -> None:
    lake, files = tmp_path / "lake", write_files(tmp_path / "files")
    log = live_until_back().events
    stream(lake, lose(log))
    where = (
        "SELECT kafka_offset, kafka_topic, ingested_at, observed_at FROM znode_events ORDER BY 1"
    )
    before = ask(lake, where)
    heal(lake, files)
    assert ask(lake, where) == before
    told = {event.seq: event for event in read_events(lake)}
    assert [*told] == [event.seq for event in log]
    lost = {event.seq for event in lose(log) if event.fidelity == "superseded"}
    for event in log:
        origin, session = event.origin, None
        if event.seq in lost:
            origin, session = "txnlog", 8 if event.zxid == BACK else SESSION
            hashed = REDACTOR.hash_data(event.data.encode() if event.data else None)
            event = msgspec.structs.replace(event, data_hash=hashed)  # noqa: PLW2901
            if event.op == "create":
                assert told[event.seq].stat == Stat(
                    *(BACK, BACK, BACK, START_MS + 1000 * BACK, START_MS + 1000 * BACK),
                    *(0, 0, 0, 8, 0, 0),
                )
                event = msgspec.structs.replace(event, stat=told[event.seq].stat)  # noqa: PLW2901
        assert told[event.seq] == msgspec.structs.replace(event, origin=origin, session=session)


def test_no_crash_changes_what_comes_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healing_module, "_BATCH_EVENTS", 1)
    files, well = write_files(tmp_path / "files"), tmp_path / "well"
    log = live_until_back().events
    stream(well, log)
    for most in (0, 2, len(LOST) + 1):
        lake = tmp_path / str(most)
        stream(lake, lose(log))
        with pytest.raises(Crash):
            heal(lake, files, most=most)
        assert is_made(Lake(str(lake), CLUSTER)) is (most == 0)
        assert heal(lake, files) == len(LOST) + 1 - most
        check_law(lake)
        assert read_tables(lake) == read_tables(well)
        assert is_made(Lake(str(lake), CLUSTER))


def test_the_stream_goes_on(tmp_path: Path) -> None:
    lake, well, files = tmp_path / "lake", tmp_path / "well", write_files(tmp_path / "files")
    log = live_until_back().events
    for cut in (8, 12):
        stream(lake, lose(log)[:cut])
        heal(lake, files)
    stream(lake, lose(log))
    stream(well, log)
    assert heal(lake, files) > 0
    check_law(lake)
    assert read_tables(lake) == read_tables(well)


def test_only_files_that_hold_such_events_are_written_anew(tmp_path: Path) -> None:
    lake, files = tmp_path / "lake", write_files(tmp_path / "files")
    log = lose(live_until_back().events)
    for cut in range(1, len(log) + 1):
        stream(lake, log[:cut])
    before = list_paths(lake)
    heal(lake, files)
    after = list_paths(lake)
    assert (len(before), len(before - after), len(after)) == (len(log), len(LOST) + 1, len(log))


def list_paths(lake: Path) -> set[str]:
    delta = reading.open_table(str(lake), CLUSTER, ZNODE_EVENTS.name)
    assert delta is not None
    return {file.path for file in list_files(delta, ZNODE_EVENTS)}


def test_the_past_meets_a_healed_log_where_it_met_the_other(tmp_path: Path) -> None:
    """Its first change is one of those without a value."""
    files, log = write_files(tmp_path / "files"), live_until_back().events
    starts = []
    for name, first in (("healed", heal), ("filled", fill)):
        stream(tmp_path / name, lose(log))
        first(tmp_path / name, files)
        starts.append(read_past(tmp_path / name).live)
    assert starts[0] == starts[1]
    assert fill(tmp_path / "healed", files) == 19
    assert heal(tmp_path / "filled", files) == len(LOST) + 1
    for name in ("healed", "filled"):
        check_law(tmp_path / name)
    assert read_tables(tmp_path / "healed") == read_tables(tmp_path / "filled")


def find_unread(lake: Path) -> list[int]:
    return [event.seq for event in Healing(Lake(str(lake), CLUSTER)).read_unread()]


def test_of_a_restored_ensemble_only_what_came_after(tmp_path: Path) -> None:
    """The zxids of before name other transactions now."""
    log = live_until_back()
    log._add(op="gap", path="/", gap=Gap("2", "history_reset"))
    log.change("set", STATE, "partition_state", 27, b"", Stat(czxid=9, version=18))
    stream(tmp_path, lose(log.events))
    assert find_unread(tmp_path) == [log.events[-1].seq]


def test_what_no_table_is_made_of_any_more_is_left_alone(tmp_path: Path) -> None:
    """Rows of members that ended before the trimmed samples stay; a rebuild does not touch them."""
    log = live_until_back()
    member = "/consumers/g/ids/g_host-1"
    seqs = []
    for zxid in (40, 41):
        log.change("create", member, "consumer", zxid, b"", Stat(czxid=zxid, version=0))
        log.change("delete", member, "consumer", zxid, b"", Stat(czxid=zxid))
        seqs.append(log.events[-2].seq)
    stream(tmp_path, lose(log.events))
    states = [seq for seq in find_unread(tmp_path) if seq not in seqs]
    assert len(states) == len(LOST) + 1
    assert find_unread(tmp_path) == [*states, *seqs]
    writer = Lake(str(tmp_path), CLUSTER).find_writer(ZNODE_EVENTS)
    writer.append_files([], Mark(SAMPLES_MARK, seqs[0]))
    assert find_unread(tmp_path) == [*states, seqs[1]]


def test_a_lake_without_tables_is_a_wrong_address(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match=r"holds no tables.*--lake"):
        Healing(Lake(str(tmp_path), CLUSTER))
    assert list(tmp_path.iterdir()) == []
