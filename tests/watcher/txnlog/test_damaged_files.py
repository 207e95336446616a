"""Files that are torn, cut, damaged, or no files of ZooKeeper's: what is said, and what is told."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest

from tests.watcher.txnlog.telling import Teller, list_changes
from tests.watcher.txnlog.writing import (
    CREATE,
    ERROR,
    HEADER,
    create,
    make_snapshot,
    record,
    sets,
    write_log,
    write_snapshot,
    znode,
)
from watcher.txnlog.finding import TxnLogError

BORN = record(1, CREATE, create("/a", b"0"))


def tell(directory: Path) -> tuple[Teller, list[int | None]]:
    teller = Teller([directory])
    return teller, [event.zxid for event in list_changes(teller.tell())]


def test_a_torn_end_is_the_end_at_whatever_byte_it_tears(tmp_path: Path) -> None:
    whole = write_log(tmp_path, 1, [BORN, *sets("/a", [2, 3])], padding=0).read_bytes()
    start = len(whole) - len(sets("/a", [3])[0])
    for size in range(start + 1, len(whole)):
        for padding in (0, 200):
            (tmp_path / "log.1").write_bytes(whole[:size] + bytes(padding))
            teller, zxids = tell(tmp_path)
            assert zxids == [1, 2], (size, padding)
            torn = [one for one in teller.findings if "ends within a record" in one.says]
            # A checksum begins with zeros, as the padding does.
            assert len(torn) == bool(whole[start:size].strip(b"\0")), (size, padding)
            assert all(str(start) in one.place for one in torn)


def test_what_follows_a_damaged_record_is_told_behind_a_gap(tmp_path: Path) -> None:
    records = [BORN, *sets("/a", [2, 3, 4])]
    offset = len(HEADER) + len(records[0])
    for place, says in (
        (len(records[1]) - 2, "wrong checksum: one transaction lost"),
        (len(records[1]) - 1, "does not end as one"),
        (8, "does not end as one"),
    ):
        whole = bytearray(write_log(tmp_path, 1, records).read_bytes())
        whole[offset + place] ^= 0x7F
        (tmp_path / "log.1").write_bytes(whole)
        write_log(tmp_path, 5, sets("/a", [5, 6], first_version=4))
        teller, zxids = tell(tmp_path)
        assert any(says in one.says and one.is_loss for one in teller.findings), place
        assert [1, *zxids[-2:]] == [1, 5, 6]
        holes = [one for one in teller.findings if "no transaction between" in one.says]
        assert len(holes) == 1


def test_a_transaction_of_an_unknown_type_is_a_hole(tmp_path: Path) -> None:
    write_log(tmp_path, 1, [BORN, record(2, 77, b"?"), *sets("/a", [3])])
    teller, zxids = tell(tmp_path)
    assert zxids == [1, 3]
    assert "type 77" in teller.findings[0].says
    assert teller.findings[0].is_loss
    assert "between 0x1 and 0x3" in teller.findings[1].says


@pytest.mark.parametrize("body", [b"", b"\0\0", struct.pack(">i", 1 << 30), b"\xff" * 40])
def test_no_body_of_a_record_can_stop_the_reading(tmp_path: Path, body: bytes) -> None:
    write_log(tmp_path, 1, [BORN, record(2, CREATE, body), record(3, ERROR, bytes(4))])
    teller, zxids = tell(tmp_path)
    assert zxids == [1]
    assert any("cannot be read" in one.says for one in teller.findings)


def test_other_files_are_left_out_and_said(tmp_path: Path) -> None:
    write_log(tmp_path, 1, [BORN])
    (tmp_path / "log.2").write_bytes(b"")
    (tmp_path / "log.3").write_bytes(b"2026-11-16 03:12 INFO rotated\n")
    (tmp_path / "log.4").write_bytes(b"ZKLG" + struct.pack(">iq", 3, 0) + BORN)
    (tmp_path / "log.txt").write_bytes(b"no")
    teller, zxids = tell(tmp_path)
    assert zxids == [1]
    said = {Path(one.place).name: one for one in teller.findings}
    assert set(said) == {"log.2", "log.3", "log.4"}
    assert "only just begun" in said["log.2"].says
    assert "no transaction log" in said["log.3"].says
    assert "format 3" in said["log.4"].says


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_no_files_at_all(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(TxnLogError, match=r"zoo\.cfg"):
        Teller([tmp_path / name])


def test_snapshots_that_cannot_be_read(tmp_path: Path) -> None:
    whole = make_snapshot(znode("/a", b"1", (5, 9)))
    write_log(tmp_path, 11, sets("/a", [11, 12], first_version=2))
    for data, says in (
        (whole[:60], "ends at"),
        (whole[:-30] + b"\x01" + whole[-29:], "wrong checksum"),
        (b"\x82SNAPPY\0" + bytes(16), "snappy"),
        (gzip.compress(whole)[:-20], "not whole"),
        (b"", "not whole"),
    ):
        (tmp_path / "snapshot.a").write_bytes(data)
        teller, zxids = tell(tmp_path)
        assert zxids == [11, 12]
        assert says in teller.findings[0].says, says
        assert "unknown until the next snapshot" in teller.findings[0].says
        assert not teller.walk.is_known


def test_a_snapshot_by_gzip_is_read(tmp_path: Path) -> None:
    write_log(tmp_path, 11, sets("/a", [11], first_version=2))
    packed = gzip.compress(make_snapshot(znode("/a", b"1", (5, 9), version=1)))
    (tmp_path / "snapshot.a.gz").write_bytes(packed)
    events = Teller([tmp_path]).tell()
    assert [(e.path, e.data) for e in events if e.op == "read"] == [("/", ""), ("/a", None)]
    (changed,) = list_changes(events)
    assert changed.stat is not None
    assert (changed.stat.czxid, changed.stat.version) == (5, 2)


def test_a_file_that_nobody_may_read(tmp_path: Path) -> None:
    write_log(tmp_path, 1, [BORN])
    (tmp_path / "log.2").mkdir()
    (tmp_path / "log.3").symlink_to(tmp_path / "gone")
    _, zxids = tell(tmp_path)
    assert zxids == [1]


def test_an_older_snapshot_stands_in_for_a_broken_one(tmp_path: Path) -> None:
    write_snapshot(tmp_path, 0)
    write_log(tmp_path, 1, [BORN, *sets("/a", [2])])
    (tmp_path / "snapshot.2").write_bytes(b"ZKSN")
    write_log(tmp_path, 3, sets("/a", [3], first_version=2))
    teller, zxids = tell(tmp_path)
    assert zxids == [1, 2, 3]
    assert teller.findings == []
