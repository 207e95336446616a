"""From answers to the records of a round: what is news, who answered, how far groups are known."""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec

from watcher.metrics import WatcherMetrics
from watcher.sampling.ends import Ends, Layout
from watcher.sampling.handover import Handover
from watcher.sampling.packing import pack_ends
from watcher.sampling.requests import Answered, Asked
from watcher.sampling.silence import FailedBrokers
from zklake.events.samples import BrokerFailure, GroupReading, LogEnd, Round


class RoundWriter:
    """What was said, and who is silent."""

    def __init__(self, core: Handover, metrics: WatcherMetrics) -> None:
        self.silence = FailedBrokers()
        # How far groups were known at the last round.
        self.reading: GroupReading | None = None
        self._core, self._metrics = core, metrics
        self._ends = Ends()
        self._has_base = False

    def start_over(self) -> None:
        """The next round is a base: everything is news."""
        self._ends, self._has_base = Ends(), False

    def emit_unasked(self, asked: Asked, reason: str | None) -> None:
        """A round in which nobody could be asked."""
        self._emit([], Round(asked.after_seq, reason=reason, groups=self.reading), asked)

    def emit_round(
        self,
        asked: Asked,
        layout: Layout,
        answered: Iterable[Answered],
        owing: set[int],
        reason: str | None = None,
    ) -> None:
        """What those said who answered; `owing` are brokers that still have not."""
        answers = [each.answer for each in answered]
        for answer in answers:
            self.silence.note(answer)
        failed = [answer.failure for answer in answers if answer.failure is not None]
        self._metrics.sample_broker_failures.inc(len(failed))
        if not self._has_base:
            # What a base does not list is gone, unless it is theirs.
            failed += [BrokerFailure(each, "no answer yet") for each in sorted(owing)]
        ends = (end for answer in answers for end in answer.ends)
        # A late answer may be about a partition that another broker leads by now.
        led = (e for e in ends if layout.leaders.get((e.topic, e.partition)) == e.broker_id)
        news = self._ends.compare_layout(layout) + self._ends.differ(led)
        ended = Round(
            asked.after_seq,
            took_ms=int(1000 * (time.monotonic() - asked.at)),
            brokers_answered=tuple(sorted(a.broker_id for a in answers if a.failure is None)),
            brokers_failed=tuple(failed),
            is_base=not self._has_base,
            reason=reason,
            groups=self._read_groups(layout, owing),
        )
        self._has_base = True
        self._emit(news, ended, asked)

    def _read_groups(self, layout: Layout, owing: set[int]) -> GroupReading | None:
        """A partition whose leader is silent is behind, however far it has been read."""
        if self.reading is None:
            return None
        silent = layout.count_silent_groups(self.silence.brokers | owing)
        behind = max(self.reading.partitions_behind, silent)
        return msgspec.structs.replace(self.reading, partitions_behind=behind)

    def _emit(self, news: list[LogEnd], ended: Round, asked: Asked) -> None:
        self._core.post(pack_ends(news, ended))
        self._metrics.sample_rounds.inc()
        self._metrics.sample_round_seconds.set(time.monotonic() - asked.at)
        self._metrics.sampled_partitions.set(len(self._ends))
