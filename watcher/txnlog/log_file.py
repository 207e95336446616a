"""A transaction log file, record by record: checked, and read as far as it is whole.

A server may be writing it: the end may be torn, and zeros follow what is written.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from watcher.txnlog.finding import FileFinding, Report, TxnLogError
from watcher.txnlog.jute import Malformed
from watcher.txnlog.transaction import Transaction, read_transaction

HEADER = struct.Struct(">4siq")
MAGIC, VERSION = b"ZKLG", 2
# The checksum, and how many bytes follow before the end mark.
_RECORD = struct.Struct(">qi")
_END_MARK = b"B"
# No request is larger by far (jute.maxbuffer is 1 MB unless somebody has raised it).
_LARGEST = 64 << 20
_BUFFER = 1 << 20


Advance = Callable[[int], None]


class Entry(NamedTuple):
    """A transaction, and the checksum of its bytes: two servers write the same ones."""

    transaction: Transaction
    checksum: int


def ignore_bytes(count: int) -> None:
    """For those who need not know how far the reading has come."""


def read_log(path: Path, report: Report, advance: Advance = ignore_bytes) -> Iterator[Entry]:
    """The transactions of a log file, in order; what cannot be read is reported.

    `advance` gets the bytes that are done with: in the end, of the whole file.
    """
    size = done = 0
    try:
        with path.open("rb", buffering=_BUFFER) as file:
            if check_header(path, file, MAGIC, "transaction log", report):
                size = path.stat().st_size
                for offset, entry in _read_records(path, file, report):
                    if offset - done >= _BUFFER:
                        advance(offset - done)
                        done = offset
                    yield entry
        advance(size - done)
    except OSError as error:
        raise TxnLogError(
            f"{path} cannot be read ({error.strerror}): copy the files to where this user may"
        ) from error


def check_header(path: Path, file: BinaryIO, magic: bytes, what: str, report: Report) -> bool:
    """Whether the file is what its name says; an empty one was only just begun."""
    header = file.read(HEADER.size)
    if not header.strip(b"\0"):
        report(FileFinding(str(path), "empty: the server had only just begun it"))
        return False
    if len(header) < HEADER.size or header[:4] != magic:
        report(FileFinding(str(path), f"no {what} of ZooKeeper's, left out", is_loss=True))
        return False
    version = HEADER.unpack(header)[1]
    if version != VERSION:
        says = f"a {what} of format {version}, not {VERSION}: newer than ZooKeeper 3.9, left out"
        report(FileFinding(str(path), says, is_loss=True))
        return False
    return True


def _read_records(path: Path, file: BinaryIO, report: Report) -> Iterator[tuple[int, Entry]]:
    """Each entry, and where it ends."""
    last_zxid, offset = -1, HEADER.size
    while head := file.read(_RECORD.size):
        if not head.strip(b"\0"):
            return
        size = _RECORD.unpack(head)[1] if len(head) == _RECORD.size else 0
        record = file.read(size + 1) if 0 < size <= _LARGEST else b""
        if record[-1:] != _END_MARK or len(record) <= size:
            report(_tear(path, offset, file))
            return
        entry = _read_entry(path, offset, head, record[:-1], report)
        offset += _RECORD.size + len(record)
        if entry is None:
            continue
        if entry.transaction.zxid <= last_zxid:
            says = f"zxid 0x{entry.transaction.zxid:x} after 0x{last_zxid:x}: the file is damaged"
            report(_lose(path, offset, says))
            return
        last_zxid = entry.transaction.zxid
        yield offset, entry


def _read_entry(
    path: Path, offset: int, head: bytes, record: bytes, report: Report
) -> Entry | None:
    """A record, if it is whole; one that is not is left out, and the next one read."""
    checksum, _ = _RECORD.unpack(head)
    if zlib.adler32(record) != checksum:
        report(
            FileFinding(f"{path} at {offset}", "wrong checksum: one transaction lost", is_loss=True)
        )
        return None
    try:
        return Entry(read_transaction(record), checksum)
    except Malformed as error:
        says = f"{error}: one transaction cannot be read"
        report(FileFinding(f"{path} at {offset}", says, is_loss=True))
        return None


def _lose(path: Path, offset: int, says: str) -> FileFinding:
    advice = "the rest of it is left out (ask another server of the ensemble for the same time)"
    return FileFinding(f"{path} at {offset}", f"{says}; {advice}", is_loss=True)


def _tear(path: Path, offset: int, file: BinaryIO) -> FileFinding:
    """The last record of a file is cut where a server dies, or writes at this moment."""
    if file.read(_BUFFER).strip(b"\0"):
        return _lose(path, offset, "a record that does not end as one: the file is damaged")
    says = "ends within a record: the server was writing it, or died then; read up to there"
    return FileFinding(f"{path} at {offset}", says)
