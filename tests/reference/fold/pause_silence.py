"""A silence as the reference knows it, and the rounds that say where logs end."""

from __future__ import annotations

from statistics import median_high
from typing import Any

from tests.reference.fold.log_ends import LogEnds
from tests.reference.fold.pause_spans import Paint, Tenure
from tests.reference.fold.presence import Moment
from zklake.events.samples import LogEnd

PAUSE_AFTER_MS = 30_000


class Round:
    """What a round said: where logs end, and of which of them it vouches for that."""

    def __init__(self, log_ends: LogEnds, vouched: set[tuple[str, int]], after_seq: int) -> None:
        self.vouched, self.after_seq = vouched, after_seq
        self.ends = {(r["topic"], r["partition"]): dict(r) for r in log_ends.rows if r["is_open"]}


def find_rounds(moments: list[Moment]) -> dict[int, Round]:
    log_ends, rounds = LogEnds(), {}
    entries: list[LogEnd] = []
    for number, event in enumerate(moment.event for moment in moments):
        if event.op != "log_ends" or event.log_ends is None:
            continue
        entries += event.log_ends.partitions
        if event.log_ends.round is not None:
            vouched = log_ends.take(moments[: number + 1], entries, event.log_ends.round)
            rounds[event.seq] = Round(log_ends, vouched, event.log_ends.round.after_seq)
            entries = []
    return rounds


class Silence:
    """Since the last progress. Times are epoch ms."""

    def __init__(self, offset: int, at: int, seq: int, end: int | None, waits: list[int]) -> None:
        self.offset, self.at, self.seq, self.end = offset, at, seq, end
        self.waits = waits[-5:]
        self.began: tuple[int, int] | None = None
        self.empty_at: int | None = None
        self.paints: list[Paint] = []
        # Who had the partition, one after the other; the last of them may have it still.
        self.tenures: list[Tenure] = []
        self.is_told = self.is_hidden = False
        # Who has it now was found to be stuck.
        self.is_stuck = False

    @property
    def usual(self) -> int | None:
        return median_high(self.waits) if self.waits else None

    @property
    def limit(self) -> int:
        return max(PAUSE_AFTER_MS, 2 * (60_000 if self.usual is None else self.usual))

    @property
    def begin(self) -> tuple[int, int] | None:
        """When records began to wait, and the event that says so."""
        if self.began is None and self.empty_at is None:
            return self.at, self.seq
        return self.began

    @property
    def owner(self) -> tuple[Any, Any] | None:
        """Who has the partition now."""
        last = self.tenures[-1] if self.tenures else None
        return last.who if last is not None and last.to is None else None

    def lose(self, at: int, seq: int) -> None:
        """Whoever had the partition has it no more."""
        if self.owner is not None:
            self.tenures[-1] = self.tenures[-1]._replace(to=at, seq=seq)
        self.is_stuck = False

    def is_pause(self, to: int) -> bool:
        assert self.begin is not None
        began = self.begin[0]
        return to - began > self.limit or any(each.reaches(began, to) for each in self.paints)
