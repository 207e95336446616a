"""One order of many files: overlapping, out of order, of several servers, with holes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.watcher.txnlog.telling import Teller, list_changes
from tests.watcher.txnlog.writing import (
    CREATE,
    create,
    record,
    sets,
    write_log,
    write_snapshot,
    znode,
)
from watcher.txnlog.finding import TxnLogError
from watcher.txnlog.sequence import follows

EPOCH = 1 << 32


def make(directory: Path, *files: range) -> Path:
    """A server's logs: writes of one znode, born with the first transaction."""
    directory.mkdir(exist_ok=True)
    for zxids in files:
        records = sets("/a", zxids, first_version=zxids[0] - 1)
        if zxids[0] == 1:
            records[0] = record(1, CREATE, create("/a", b"0"))
        write_log(directory, zxids[0], records)
    return directory


def tell(*directories: Path) -> tuple[Teller, list[int | None]]:
    teller = Teller(directories)
    return teller, [event.zxid for event in list_changes(teller.tell())]


def test_files_in_any_cut_tell_the_same_once(tmp_path: Path) -> None:
    dice = Random(3)
    for number in range(20):
        starts = [1, *sorted(dice.sample(range(2, 60), 4))]
        servers = []
        for server in range(2):
            files = [range(start, min(60, start + dice.randrange(8, 40))) for start in starts] + [
                range(50, 61)
            ]
            servers.append(make(tmp_path / f"{number}-{server}", *files))
        servers.append(make(tmp_path / f"{number}-whole", range(1, 61)))
        teller, zxids = tell(*servers)
        assert zxids == list(range(1, 61))
        assert teller.findings == []


def test_what_one_server_lacks_another_has(tmp_path: Path) -> None:
    one = make(tmp_path / "one", range(1, 10), range(20, 30))
    other = make(tmp_path / "other", range(8, 22))
    teller, zxids = tell(one)
    assert zxids == [*range(1, 10), *range(20, 30)]
    assert [one.says[:37] for one in teller.findings] == ["no transaction between 0x9 and 0x14: "]
    teller, zxids = tell(other, one)
    assert zxids == list(range(1, 30))
    assert teller.findings == []


def test_a_hole_is_a_gap_and_the_next_snapshot_ends_it(tmp_path: Path) -> None:
    make(tmp_path, range(1, 5), range(9, 12), range(12, 15))
    write_snapshot(tmp_path, 11, znode("/a", b"11", (1, 11), version=10), znode("/b", b"", (7, 7)))
    events = Teller([tmp_path]).tell()
    told = [e.gap.reason if e.gap else e.path if e.op == "read" else e.op for e in events]
    assert told == [
        *("first_start", "frame_begin", "in_sync", "create", "set", "set", "set"),
        *("txnlog_hole", "set", "set", "set"),
        *("frame_begin", "/", "/a", "/b", "in_sync"),
        *("set", "set", "set", "txnlog_end"),
    ]
    hole = next(e.gap for e in events if e.gap and e.gap.reason == "txnlog_hole")
    assert hole.from_zxid == 4


def test_files_of_two_ensembles_are_refused(tmp_path: Path) -> None:
    one, other = make(tmp_path / "one", range(1, 5)), tmp_path / "other"
    other.mkdir()
    write_log(other, 1, [record(1, CREATE, create("/else", b"0"))])
    with pytest.raises(TxnLogError, match="0x1: files of two ensembles"):
        tell(one, other)


def test_what_was_never_committed_is_left_out(tmp_path: Path) -> None:
    """A server dies with transactions that nobody else has; the others elect another leader."""
    dead, alive = tmp_path / "dead", tmp_path / "alive"
    for directory in (dead, alive):
        directory.mkdir()
        write_log(directory, 1, [record(1, CREATE, create("/a", b"0")), *sets("/a", [2, 3])])
    write_log(dead, 4, sets("/a", [4, 5], first_version=3))
    write_log(alive, EPOCH + 1, sets("/a", [EPOCH + 1, EPOCH + 2], first_version=3))
    teller, zxids = tell(dead, alive)
    assert zxids == [1, 2, 3, EPOCH + 1, EPOCH + 2]
    assert ["2 transactions" in one.says for one in teller.findings] == [True]
    # By itself nothing says so; and what its server went on from was committed.
    assert tell(dead)[1] == [1, 2, 3, 4, 5]
    write_log(dead, EPOCH + 1, sets("/a", [EPOCH + 1], first_version=3))
    assert tell(dead, alive)[1] == [1, 2, 3, 4, 5, EPOCH + 1, EPOCH + 2]


@pytest.mark.parametrize(
    ("former", "zxid", "expected"),
    [
        (0, 1, True),
        (4, 5, True),
        (4, 6, False),
        (4, EPOCH + 1, True),
        (4, 3 * EPOCH + 1, True),
        (4, EPOCH + 2, False),
        (EPOCH, EPOCH + 1, True),
    ],
)
def test_what_follows_what(former: int, zxid: int, expected: bool) -> None:
    assert follows(former, zxid) is expected
