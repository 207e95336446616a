"""The transactions of all files in one order, each once: files may overlap, servers repeat them.

A server writes a transaction down before a majority has it. Given several servers' files, one that
only those have whose logs end with its epoch, while others went on without it, was never committed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from watcher.txnlog.files import LogFile
from watcher.txnlog.finding import FileFinding, Report, TxnLogError
from watcher.txnlog.log_file import Advance, Entry, ignore_bytes, read_log
from watcher.txnlog.transaction import Transaction

_EPOCH_BITS = 32


def follows(former: int, zxid: int) -> bool:
    """Whether no transaction can lie between the two: zxids of an epoch are without holes."""
    is_new_epoch = zxid >> _EPOCH_BITS > former >> _EPOCH_BITS
    return zxid == former + 1 or (is_new_epoch and zxid & 0xFFFF_FFFF <= 1)


def is_first(zxid: int) -> bool:
    """Whether it is the first transaction of an ensemble: nothing was there before."""
    return zxid & 0xFFFF_FFFF == 1 and zxid >> _EPOCH_BITS <= 1


def read_transactions(
    logs: Sequence[LogFile], report: Report, advance: Advance = ignore_bytes
) -> Iterator[Transaction]:
    """All committed transactions by zxid; TxnLogError if the files are of different ensembles."""
    ends = _find_ends(logs) if len({log.server for log in logs}) > 1 else {}
    dropped = 0
    for held in _group(logs, report, advance):
        transaction = held[0][0].transaction
        _check_equal(held)
        if ends and _is_uncommitted(transaction.zxid, {log.server for _, log in held}, ends):
            dropped += 1
            continue
        yield transaction
    if dropped:
        says = f"{dropped} transactions that other servers went on without: never committed"
        report(FileFinding("the servers' logs", says))


def _group(
    logs: Sequence[LogFile], report: Report, advance: Advance
) -> Iterator[list[tuple[Entry, LogFile]]]:
    """Entries of the same zxid; a file is opened when the order reaches it."""
    waiting = sorted(logs, reverse=True)
    # (zxid, number of the file), which is unique, and what is there.
    heap: list[tuple[int, int, Entry, LogFile, Iterator[Entry]]] = []
    number = 0
    while waiting or heap:
        while waiting and (not heap or waiting[-1].zxid <= heap[0][0]):
            log = waiting.pop()
            number += 1
            entries = read_log(log.path, report, advance)
            if (first := next(entries, None)) is not None:
                heapq.heappush(heap, (first.transaction.zxid, number, first, log, entries))
        held: list[tuple[Entry, LogFile]] = []
        zxid = heap[0][0] if heap else None
        while heap and heap[0][0] == zxid:
            _, own, entry, log, entries = heap[0]
            held.append((entry, log))
            if (later := next(entries, None)) is not None:
                heapq.heapreplace(heap, (later.transaction.zxid, own, later, log, entries))
            else:
                heapq.heappop(heap)
        if held:
            yield held


def _check_equal(held: Sequence[tuple[Entry, LogFile]]) -> None:
    (first, log), others = held[0], held[1:]
    for entry, other in others:
        if entry.checksum != first.checksum and entry.transaction != first.transaction:
            raise TxnLogError(
                f"{log.path} and {other.path} hold different transactions under zxid "
                f"0x{first.transaction.zxid:x}: files of two ensembles, or of one that was "
                "restored from a backup. Give those of one history only"
            )


def _find_ends(logs: Sequence[LogFile]) -> dict[int, tuple[int, int]]:
    """By server, the first and the last zxid of its logs."""
    ends: dict[int, tuple[int, int]] = {}
    for server in {log.server for log in logs}:
        own = sorted(log for log in logs if log.server == server)
        last = own[0].zxid
        for log in reversed(own):
            zxids = [entry.transaction.zxid for entry in _read_last(log)]
            if zxids:
                last = zxids[-1]
                break
        ends[server] = own[0].zxid, last
    return ends


def _read_last(log: LogFile) -> list[Entry]:
    last: list[Entry] = []
    for entry in read_log(log.path, lambda finding: None):
        last = [entry]
    return last


def _is_uncommitted(zxid: int, servers: set[int], ends: dict[int, tuple[int, int]]) -> bool:
    epoch = zxid >> _EPOCH_BITS
    if any(ends[server][1] >> _EPOCH_BITS > epoch for server in servers):
        return False
    others = (end for server, end in ends.items() if server not in servers)
    return any(first <= zxid and last >> _EPOCH_BITS > epoch for first, last in others)
