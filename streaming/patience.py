"""How long to wait after a failure, and when waiting is no use. No clock, no I/O."""

from __future__ import annotations

import re

from streaming.trouble import BatchFailed, EventFailed, NotWritable
from zklake.errors import LogError, ZklakeError

# So many equal failures at the same place of the log: it will not go away by itself.
MOST_EQUAL = 3
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0
# A batch that failed may have been too large for the driver: the next is an eighth of it.
_SHRINKING_BITS = 3


class RetryPolicy:
    """Judges one failure after the other of one cluster's stream."""

    def __init__(self) -> None:
        # Events that failed so often that they must be set aside, by seq, and why.
        self.unfoldable: dict[int, str] = {}
        self._waits = 0
        self._last: tuple[str, int] | None = None
        self._equal = 0

    def judge(self, error: ZklakeError, seq: int) -> float:
        """Seconds to wait before the next try; raises what no wait will mend.

        `seq` is the lake's watermark: a failure further on in the log is another one.
        """
        if isinstance(error, EventFailed):
            self._count_event(error)
        elif isinstance(error, BatchFailed):
            self._count(error, seq)
        elif not isinstance(error, LogError | NotWritable):
            raise error
        wait_s = min(_FIRST_WAIT_S * 2.0**self._waits, _LONGEST_WAIT_S)
        self._waits += 1
        return wait_s

    def limit(self, max_records: int) -> int:
        """Up to how many records the next try may fold at once, of those allowed."""
        return max(1, max_records >> _SHRINKING_BITS * self._equal)

    def forget(self) -> None:
        """It works again: the next wait is a short one. Failures of batches are still counted."""
        self._waits = 0

    def _count_event(self, error: EventFailed) -> None:
        if self._is_again(error.reason, error.seq):
            self.unfoldable[error.seq] = error.reason
            self._equal = self._waits = 0

    def _is_again(self, text: str, seq: int) -> bool:
        """Whether this has failed often enough at this place."""
        self._equal = self._equal + 1 if (text, seq) == self._last else 1
        self._last = (text, seq)
        return self._equal >= MOST_EQUAL

    def _count(self, error: BatchFailed, seq: int) -> None:
        # Numbers of jobs, stages and tasks differ each time.
        if self._is_again(re.sub(r"\d+", "#", str(error)), seq):
            raise type(error)(
                f"{error}. It failed {MOST_EQUAL} times at the same place of the log (after seq "
                f"{seq}): this is a bug, or the lake is damaged. Nothing of that batch is lost: "
                "the log has it"
            )
