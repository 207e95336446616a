"""Files of real servers: what is told is what ZooKeeper's own log says, and what it answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab.zookeeper import VERSIONS, ZooKeeperServer
from tests.reference.load import run_load
from tests.reference.load_session import close, connect
from tests.reference.test_txnlog import read_live
from tests.reference.tree import Change, fold, restrict
from tests.reference.txnlog import read_dir
from tests.watcher.txnlog.telling import REDACTOR, Teller, list_changes
from watcher.txnlog.numbering import Bounds
from zklake.events.envelope import SEQ_PER_SECOND, Event, Stat

pytestmark = pytest.mark.integration

CHROOT = "/kafka"
# ZooKeeper takes a snapshot after half to all of so many transactions.
_SNAP_COUNT = 300
_STAT = ("version", "cversion", "czxid", "mzxid", "pzxid", "aversion", "ephemeral_owner")


class Files(NamedTuple):
    """A copy of a server's files, and the tree that it answered with when they were written."""

    directory: Path
    live: dict[str, tuple[Any, ...]]


@pytest.fixture(scope="module", params=VERSIONS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Files:
    options = [f"-Dzookeeper.snapCount={_SNAP_COUNT}"]
    with ZooKeeperServer(version=request.param, jvm_options=options) as server:
        client = connect(server.address)
        client.add_auth("digest", "oracle:sealed")
        client.create("/held", b"", ephemeral=True)
        modern = not request.param.startswith("3.4")
        hosts = f"{server.address}{CHROOT}"
        run_load(hosts, seed=1, rounds=3, has_containers=modern, seals=True)
        server.kill()
        server.start()
        # Containers and TTL nodes go by themselves: not while somebody looks.
        run_load(hosts, seed=2, rounds=3, has_containers=False, seals=True)
        live = client.retry(read_live, client)
        close(client)
        server.kill()
        copy = tmp_path_factory.mktemp("copy") / "data"
        shutil.copytree(server.data_dir, copy)
    return Files(copy, live)


def test_every_change_of_the_log_is_told_and_nothing_else(files: Files) -> None:
    truth = read_truth(files)
    teller = Teller([files.directory], chroot=CHROOT)
    events = teller.tell()
    assert arrange(map(describe_change, truth)) == arrange(map(describe, list_changes(events)))
    assert teller.findings == []
    assert {event.origin for event in list_changes(events)} == {"txnlog"}
    assert [event.seq for event in events] == sorted({event.seq for event in events})
    times = [event.observed_at_ms for event in events]
    assert times == sorted(times)
    assert all(e.seq // SEQ_PER_SECOND >= e.observed_at_ms // 1000 for e in events)
    assert [event.op for event in events[:2]] == ["gap", "frame_begin"]


def test_the_stat_is_what_zookeeper_answers(files: Files) -> None:
    teller = Teller([files.directory])
    teller.tell()
    names = set(files.live) - {"/", "/held"}
    assert len(names) > 50
    for path in names:
        told = teller.walk.znodes.find(path)
        assert told is not None, path
        assert [getattr(told, name) for name in _STAT] == [*files.live[path][1:]], path
    # Its session was closed after the look.
    assert teller.walk.znodes.find("/held") is None


def test_from_any_snapshot_on_the_same_is_told(files: Files) -> None:
    truth = read_truth(files)
    starts = sorted(int(p.name[9:], 16) for p in files.directory.glob("version-2/snapshot.*"))
    assert len(starts) > 2
    bases = []
    for start in starts:
        events = Teller([files.directory], chroot=CHROOT, start=start).tell()
        frame = next(event.frame for event in events if event.op == "frame_begin")
        assert frame is not None
        bases.append(int(frame.id.removeprefix("txnlog-"), 16))
        assert bases[-1] < start or start == 0
        check_base(events, truth, bases[-1])
        told = [event for event in list_changes(events) if (event.zxid or 0) > start]
        later = [change for change in truth if change.zxid > start]
        assert arrange(map(describe, told)) == arrange(map(describe_change, later))
    # Not all is told each time.
    assert len(set(bases)) > 1


def check_base(events: Sequence[Event], truth: Sequence[Change], base: int) -> None:
    """A snapshot is written while the server goes on: what is deleted soon may not be in it."""
    standing = list_standing(truth, base)
    reads = {event.path: event for event in events if event.op == "read"}
    assert set(reads) <= set(standing)
    gone = {change.path for change in truth if change.zxid > base and change.op == "delete"}
    assert set(standing) - set(reads) <= gone
    for path, read in reads.items():
        if read.fidelity != "superseded":
            assert read.stat is not None
            assert (read.stat.czxid, read.stat.version) == standing[path or ""], path


def test_taken_up_again_after_any_transaction_it_ends_the_same(files: Files) -> None:
    whole = Teller([files.directory], chroot=CHROOT).tell()
    zxids = sorted({event.zxid for event in list_changes(whole) if event.zxid})
    for zxid in zxids[:: max(1, len(zxids) // 9)]:
        told = [event for event in list_changes(whole) if (event.zxid or 0) <= zxid]
        bounds = Bounds(zxids[0], zxid, told[-1].seq, told[-1].observed_at_ms, True)
        rest = Teller([files.directory], bounds, chroot=CHROOT, start=zxid).tell()
        wanted = [event for event in list_changes(whole) if (event.zxid or 0) > zxid]
        told_again = arrange(map(describe, list_changes(rest)))
        assert told_again == arrange(map(describe, wanted))
        assert all(event.seq > told[-1].seq for event in rest)
        if wanted:
            assert [rest[0].op, rest[-1].op] == ["in_sync", "gap"]
            assert rest[-1].gap is not None
            assert rest[-1].gap.reason == "txnlog_end"


def read_truth(files: Files) -> list[Change]:
    """What ZooKeeper's log says, by the reader that shares no code with ours."""
    changes, _ = fold(read_dir(files.directory))
    return [change for change in restrict(changes, CHROOT) if change.op != "set_acl"]


Told = tuple[int, str, str, int, int, str | None]


def describe_change(change: Change) -> Told:
    data_hash = None if change.op == "delete" else REDACTOR.hash_data(change.data)
    return change.zxid, change.path, change.op, change.czxid, change.version, data_hash


def describe(event: Event) -> Told:
    assert event.zxid is not None
    assert event.path is not None
    stat = event.stat or Stat()
    czxid, version = stat.czxid or 0, stat.version or 0
    return event.zxid, event.path, event.op, czxid, version, event.data_hash


def arrange(told: Iterable[Told]) -> Sequence[Told]:
    """In order; the deletes of one transaction have none among themselves."""
    listed = list(told)
    places = {id(one): place for place, one in enumerate(listed)}

    def find_place(one: Told) -> tuple[int, str, int]:
        return one[0], one[1] if one[2] == "delete" else "", places[id(one)]

    return sorted(listed, key=find_place)


def list_standing(truth: Sequence[Change], zxid: int) -> dict[str, tuple[int, int]]:
    """Czxid and version of every znode after that transaction."""
    standing: dict[str, tuple[int, int]] = {}
    for change in truth:
        if change.zxid <= zxid and change.op == "delete":
            del standing[change.path]
        elif change.zxid <= zxid:
            standing[change.path] = change.czxid, change.version
    return standing
