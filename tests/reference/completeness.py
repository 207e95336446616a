"""Whether logs are whole, and which transactions of an ensemble were committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.reference.txnlog import Txn, read_dir


def find_holes(txns: Iterable[Txn]) -> list[tuple[int, int]]:
    """(zxid before, zxid after) where the log skips inside an epoch: [] proves completeness."""
    holes = []
    last: int | None = None
    for txn in txns:
        if last is not None and txn.zxid != last + 1 and txn.zxid >> 32 == last >> 32:
            holes.append((last, txn.zxid))
        last = txn.zxid
    return holes


def read_majority(data_dirs: list[Path]) -> list[Txn]:
    """What a majority of an ensemble's members logged: one may hold proposals never committed."""
    copies: dict[Txn, None] = {}
    count: Counter[Txn] = Counter()
    for data_dir in data_dirs:
        for txn in read_dir(data_dir):
            copies.setdefault(txn)
            count[txn] += 1
    agreed = (txn for txn in copies if 2 * count[txn] > len(data_dirs))
    return sorted(agreed, key=lambda txn: txn.zxid)
