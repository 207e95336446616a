"""A story on a real cluster, watched live and read from ZooKeeper's files into another lake."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from kazoo.client import KazooClient

from auditor.lake import Lake as AuditedLake
from auditor.log import Head, Record
from auditor.records import RecordAudit
from bench.records import make_records
from delta_tables.catalog import TABLES
from delta_tables.reading import open_tables, read_rows
from lab.cluster import Cluster
from lab.stories import BROKER_SETTINGS, find_story, run_story
from lab.zookeeper import ZooKeeperServer
from streaming.batch import Fold
from streaming.erasure.files import find_files
from streaming.erasure.secret_values import SecretValues
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from streaming.log.identity import accept_log
from tests.e2e.backfilled import Pair, is_counted
from tests.reference.load import run_load
from tests.watcher.watching import LogTail, WatcherProcess, catch_up
from watcher.txnlog.opening import HistoryRequest
from zklake.cli.backfill_work import Summary, backfill_lake
from zklake.cli.heal_work import HealSummary, heal_lake
from zklake.events.envelope import SEQ_PER_SECOND, TXNLOG_ID, Event, Stat, encode
from zklake.events.topics import name_topics
from zklake.settings.load import load_settings

pytestmark = pytest.mark.timeout(900)

USER, BRIEF = "/config/users/ann", "/config/topics/brief"
SECRETS = (b"Zmlyc3Q=", b"c2Vjb25k")
STORIES = ("consumer-crash", "config-changes")


class Recording(NamedTuple):
    """What was watched, the lake that came of it, and a copy of ZooKeeper's files."""

    cluster: str
    log: list[Event]
    lake: Path
    files: Path
    chroot: str = ""

    def find_span(self) -> tuple[datetime, datetime]:
        """From when the watcher saw everything until it had written the last change."""
        first = next(e.observed_at_ms for e in self.log if e.op == "in_sync")
        last = max(e.stat.ctime or 0 for e in self.log if e.op == "create" and e.stat)
        low, high = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (first, last))
        return low, high


@contextmanager
def watch(zookeeper: str, kafka: Cluster, directory: Path, name: str) -> Iterator[list[Event]]:
    """Watch while the body runs, and then a value that is overwritten before it can be read.

    The list then holds the whole log.
    """
    log: list[Event] = []
    with (
        WatcherProcess(zookeeper, kafka.bootstrap, directory, cluster=name) as watcher,
        closing(LogTail(kafka.bootstrap, name)) as tail,
    ):
        catch_up(watcher, tail)
        yield log
        catch_up(watcher, tail)
        watcher.process.pause()
        hurry(zookeeper)
        watcher.process.resume()
        catch_up(watcher, tail)
        watcher.process.stop(30.0)
        log += [msgspec.convert(event, Event) for event in tail.read_all()]


def hurry(zookeeper: str) -> None:
    """Overwrite values before they can be read: the same bytes, two states; a secret; a life."""
    client = KazooClient(zookeeper)
    client.start()
    path = f"/brokers/topics/{min(client.get_children('/brokers/topics'))}"
    value, _ = client.get(path)
    for _ in range(2):
        client.set(path, value)
    for directory in (USER, BRIEF):
        client.ensure_path(directory.rpartition("/")[0])
    for secret in SECRETS:
        text = b'{"version":1,"config":{"SCRAM-SHA-256":"stored_key=%s"}}' % secret
        client.create(USER, text) if secret is SECRETS[0] else client.set(USER, text)
    client.create(BRIEF, b'{"version":1,"config":{"retention.ms":"1000"}}')
    client.delete(BRIEF)
    client.stop()
    client.close()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("3.9.3", marks=pytest.mark.e2e),
        pytest.param("3.8.4", marks=pytest.mark.faults),
        pytest.param("3.4.10", marks=pytest.mark.faults),
    ],
)
def recording(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Recording:
    directory, version = tmp_path_factory.mktemp("recording"), request.param
    name = f"past-{version.replace('.', '')}"
    if version.startswith("3.4"):
        with ZooKeeperServer(version=version) as server:
            run_load(f"{server.address}/kafka", seed=6, rounds=1, has_containers=False)
            with watch(f"{server.address}/kafka", cluster, directory, name) as log:
                run_load(f"{server.address}/kafka", seed=7, rounds=3, has_containers=False)
            shutil.copytree(server.data_dir, directory / "data")
    else:
        with Cluster(3, zookeeper_version=version, settings=BROKER_SETTINGS) as played:
            with watch(played.zookeeper_connect, cluster, directory, name) as log:
                for story in STORIES:
                    run_story(played, find_story(story), 5, 50.0, lambda fact: None)
            shutil.copytree(played.zookeeper.servers[0].data_dir, directory / "data")
    fold(log, name, directory / "live")
    chroot = "/kafka" if version.startswith("3.4") else ""
    return Recording(name, log, directory / "live", directory / "data", chroot)


def fold(log: list[Event], cluster: str, lake: Path) -> None:
    """What a stream makes of a log, from the lake's watermark on."""
    topic, written = name_topics(cluster).events, Lake(str(lake), cluster)
    written.create_tables()
    progress = read_progress(str(lake), cluster, topic)
    if progress.log_id == TXNLOG_ID:
        progress = accept_log(progress)
    folding = Fold(written, progress, topic)
    folding.fold_batch(make_records([encode(event) for event in log]))
    folding.finish()


def backfill(recording: Recording, lake: Path | str, until_ms: int | None = None) -> Summary:
    flags = {"lake.path": str(lake), "cluster": recording.cluster}
    settings = load_settings(None, flags)
    return backfill_lake(
        settings, HistoryRequest([recording.files], chroot=recording.chroot), until_ms
    )


@pytest.fixture(scope="module")
def past(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("past")
    summary = backfill(recording, lake)
    print(summary.list_figures())
    assert summary.findings == []
    assert not summary.is_met
    return lake


def test_every_table_is_equal_where_both_saw(recording: Recording, past: Path) -> None:
    pair = Pair(str(recording.lake), str(past), recording.cluster, recording.find_span())
    differences = pair.list_differences(coalescing=bool(recording.chroot))
    counts = {name: len(pair.read(name)[1]) for name in ("partition_state", "ownership_history")}
    print(counts, len(differences))
    if recording.chroot:
        # One-shot watches: what they coalesced is in the files alone.
        watched = [one for one in differences if one.side == "live"]
        assert [one for one in watched if one.row["fidelity"] == "exact"] == []
    else:
        assert all(counts.values())
        assert differences == []
    assert pair.list_late_ends() == []
    live, told = pair.read("rebalances")
    assert {row["group_id"] for row in live} == {row["group_id"] for row in told}


def test_every_change_that_was_watched_is_in_the_files(recording: Recording, past: Path) -> None:
    sql = "SELECT path, op, zxid, data_hash FROM znode_events WHERE origin = 'txnlog'"
    rows = read_rows(str(past), recording.cluster, sql)
    told = {(row["path"], row["op"], row["zxid"]) for row in rows}
    seen = [e for e in recording.log if e.origin == "watch" and e.zxid is not None]
    assert len(seen) > 50
    assert [e for e in seen if (e.path, e.op, e.zxid) not in told] == []


def test_the_past_meets_the_live_log(recording: Recording, past: Path) -> None:
    """Into the live lake itself: every state once, and nothing is told twice."""
    live, cluster = str(recording.lake), recording.cluster
    watched = read_rows(live, cluster, "SELECT count(*) AS n FROM znode_events")[0]["n"]
    summary = backfill(recording, live)
    assert summary.is_met
    rows = read_rows(live, cluster, "SELECT seq FROM znode_events ORDER BY seq")
    assert len(rows) == len({row["seq"] for row in rows}) == watched + sum(summary.events.values())
    check_states(recording, live, str(past))
    assert backfill(recording, live).transactions == 0


def test_a_stream_goes_on_behind_the_past_and_what_lies_between_is_filled(
    recording: Recording, past: Path, tmp_path: Path
) -> None:
    """A lake that has the past alone takes a log that was born later."""
    cluster, born = recording.cluster, recording.log[0].seq // SEQ_PER_SECOND
    backfill(recording, tmp_path, until_ms=1000 * born - 1)
    fold(recording.log, cluster, tmp_path)
    gaps = "SELECT is_open FROM log_gaps WHERE reason = 'txnlog_end'"
    assert read_rows(str(tmp_path), cluster, gaps) == [{"is_open": False}]
    assert backfill(recording, tmp_path).is_met
    check_states(recording, str(tmp_path), str(past))


def heal(recording: Recording, lake: Path) -> HealSummary:
    flags = {"lake.path": str(lake), "cluster": recording.cluster}
    settings = load_settings(None, flags)
    return heal_lake(settings, HistoryRequest([recording.files], chroot=recording.chroot))


def test_a_healed_lake_says_what_the_files_say(
    recording: Recording, past: Path, tmp_path: Path
) -> None:
    """Every value that was overwritten unread is there; nothing is left to be explained."""
    lake, cluster = tmp_path / "lake", recording.cluster
    # A lake of its own: that of the recording has been given the past.
    fold(recording.log, cluster, lake)
    unread = {event.seq: event for event in recording.log if event.fidelity == "superseded"}
    summary = heal(recording, lake)
    print(summary.list_figures())
    assert (summary.superseded, summary.findings) == (len(unread), [])
    unread_paths = {event.path for event in unread.values()}
    sql = "SELECT path FROM znode_events WHERE fidelity = 'superseded'"
    left = [row["path"] for row in read_rows(str(lake), cluster, sql)]
    assert len(unread) - summary.healed.total() == len(left)
    if recording.chroot:
        # One-shot watches: what they did not see bears no name.
        assert unread_paths == set()
    else:
        assert sorted(left) == list_nameless(recording.log)
        assert (BRIEF in left) is (recording.cluster != "past-393")
        assert {USER, BRIEF} < unread_paths
        # The user's credentials are as secret as before.
        assert summary.withheld == 1
        assert summary.healed["topic"] >= 1
    if not left and unread:
        pair = Pair(str(lake), str(past), cluster, recording.find_span())
        assert all(len(pair.read(name)[0]) for name in ("topics", "config_history"))
        assert pair.list_healed_differences() == []
    assert list(find_files(str(lake), SecretValues(map(bytes.decode, SECRETS)))) == []
    versions = {name: table.version() for name, table in open_tables(str(lake), cluster).items()}
    assert heal(recording, lake).healed.total() == 0
    assert {n: t.version() for n, t in open_tables(str(lake), cluster).items()} == versions
    check_against_log(recording, lake)
    # It takes the past as if it had always been so.
    assert backfill(recording, lake).is_met
    check_states(recording, str(lake), str(past))


def test_half_of_the_values_lost_and_healed_are_the_same_tables(
    recording: Recording, tmp_path: Path
) -> None:
    """Of every kind that the stories write: brokers, members, owners, offsets, configs."""
    if recording.chroot:
        pytest.skip("one-shot watches publish no event without a value")
    lost = [*lose_half(recording.log, Random(7))]
    count = sum(event.fidelity == "superseded" for event in lost)
    fold(lost, recording.cluster, tmp_path / "ill")
    fold(recording.log, recording.cluster, tmp_path / "well")
    assert read_states(tmp_path / "ill", recording.cluster) != read_states(
        tmp_path / "well", recording.cluster
    )
    heal(recording, tmp_path / "well")
    summary = heal(recording, tmp_path / "ill")
    print(summary.list_figures())
    kinds = {"owner", "offset", "consumer", "partition_state", "topic_config"}
    assert kinds <= summary.healed.keys()
    assert count - summary.healed.total() == len(list_nameless(recording.log))
    ill, well = (read_states(tmp_path / name, recording.cluster) for name in ("ill", "well"))
    assert [name for name, rows in well.items() if rows != ill[name]] == []


def lose_half(log: Sequence[Event], dice: Random) -> Iterator[Event]:
    """The log of a watcher that came too late for half of what was written over or deleted, and for
    the first of each kind.
    """
    last = {event.path: event.seq for event in log}
    # Lives of which nothing was read so far: who owns them is not known.
    unread, kinds = set[int](), set[str | None]()
    for event in log:
        stat = event.stat
        is_change = event.op in ("create", "set") and event.origin == "watch"
        if not is_change or stat is None or stat.czxid is None or event.fidelity == "superseded":
            yield event
        elif event.seq == last[event.path] or (event.kind in kinds and dice.random() < 0.5):
            unread.discard(stat.czxid)
            yield event
        else:
            kinds.add(event.kind)
            if event.op == "create":
                unread.add(stat.czxid)
            owner = 0 if stat.czxid in unread else stat.ephemeral_owner
            known = Stat(
                czxid=stat.czxid, mzxid=stat.mzxid, version=stat.version, ephemeral_owner=owner
            )
            yield msgspec.structs.replace(
                event, data=None, data_hash=None, fidelity="superseded", stat=known
            )


def read_states(lake: Path, cluster: str) -> dict[str, list[str]]:
    """The rows of all tables of states, in some order."""
    return {
        table.name: sorted(map(repr, read_rows(str(lake), cluster, f"SELECT * FROM {table.name}")))
        for table in TABLES
        if table.is_interval
    }


def list_nameless(log: Sequence[Event]) -> list[str]:
    """Paths of lives that were over before a read: before 3.9 no transaction is told either."""
    return sorted(
        event.path or ""
        for event in log
        if event.fidelity == "superseded"
        and (event.zxid, event.stat and event.stat.czxid) == (None, None)
    )


def check_against_log(recording: Recording, lake: Path) -> None:
    """The auditor's view: each record has its row, and no row stands alone."""
    held = AuditedLake(str(lake), recording.cluster)
    log_id, last = recording.log[0].log_id, len(recording.log)
    audit = RecordAudit(held.list_records(log_id, 0, last), held.list_quarantined(0, last))
    findings = [
        finding
        for offset, event in enumerate(recording.log)
        for finding in audit.judge(
            Record(offset, Head(event.seq, event.op, event.log_id, event.observed_at_ms))
        )
    ]
    assert findings + list(audit.finish()) == []
    assert audit.records == last


def check_states(recording: Recording, joined: str, past: str) -> None:
    """Every state once, but for what was overwritten unread in the live part, and is counted.

    What one-shot watches coalesce, nobody can count.
    """
    columns = ("czxid", "znode_version", "fidelity")
    for name in ("partition_state", "ownership_history", "broker_membership", "topics"):
        sql = f"SELECT czxid, znode_version, fidelity, unseen_versions FROM {name} ORDER BY 1, 2"
        ours, theirs = (read_rows(lake, recording.cluster, sql) for lake in (joined, past))
        told = [tuple(row[column] for column in columns) for row in theirs]
        states = [tuple(row[column] for column in columns) for row in ours]
        assert [state for state in states if state[2] == "exact" and state not in told] == []
        unread = [row for row in theirs if is_counted(row, ours)]
        assert len(ours) + len(unread) == len(theirs) or recording.chroot, name
