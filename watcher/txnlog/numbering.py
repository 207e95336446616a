"""Where events of ZooKeeper's files stand in the log: before the birth of one that follows. Pure.

A new log starts at its birth in seconds times a fixed number of seqs; these are placed by
ZooKeeper's own time in the same measure, so a log that is born later follows by itself.
"""

from __future__ import annotations

from typing import NamedTuple

from watcher.txnlog.finding import TxnLogError
from zklake.events.envelope import SEQ_PER_SECOND

# Of the last seconds before a log's birth all events lie close together: clocks may differ.
_CLOSE_S = 4096
_LAST_SEQ = 1 << 53


class Bounds(NamedTuple):
    """Which part of the files is wanted, and where its numbers begin and end."""

    # What is in the lake already: from and up to which transaction, the last number and time given.
    first_zxid: int | None = None
    after_zxid: int | None = None
    after_seq: int = -1
    after_ms: int = 0
    # Whether the whole tree was known then.
    after_is_known: bool = False
    # The last transaction before the live log, and that log's first number and time.
    last_zxid: int | None = None
    before_seq: int | None = None
    before_ms: int | None = None
    until_ms: int | None = None


class Numbering:
    """Gives each event its seq and its time; neither ever goes back."""

    def __init__(self, bounds: Bounds) -> None:
        self._before_seq, self._before_ms = bounds.before_seq, bounds.before_ms
        self.seq, self.at_ms = bounds.after_seq, bounds.after_ms

    def move(self, time_ms: int) -> None:
        """To the next event, of that time by the leader's clock."""
        second = time_ms // 1000
        if self._before_ms is not None:
            time_ms = min(time_ms, self._before_ms)
        if self._before_seq is not None:
            second = min(second, self._before_seq // SEQ_PER_SECOND - _CLOSE_S)
        self.seq = max(self.seq + 1, second * SEQ_PER_SECOND)
        self.at_ms = max(self.at_ms, time_ms)
        if not 0 <= self.seq < (self._before_seq or _LAST_SEQ):
            raise TxnLogError(
                f"a transaction of {time_ms} ms by the leader's clock: there are not enough "
                "numbers for these events before the live log. Backfill into a new lake (--lake)"
            )
