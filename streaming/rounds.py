"""Sampling rounds that vouch for all Kafka-stored groups: what was said only before is gone.

Pure: events in, closures out.
"""

from __future__ import annotations

from dataclasses import dataclass

from delta_tables.samples import KAFKA
from streaming.frames import Closure
from zklake.events.envelope import Event


@dataclass
class Rounds:
    """Those of one cluster. After a start it knows none: the same one again ends nothing more."""

    last_begin: int = -1

    def follow(self, event: Event) -> Closure | None:
        """Take one event; a closure if it is the first round to vouch since some seq."""
        ended = event.log_ends.round if event.log_ends else None
        groups = ended.groups if ended else None
        begin = groups.vouched_since_seq if groups else None
        if begin is None or not self.last_begin < begin <= event.seq:
            return None
        self.last_begin = begin
        return Closure(event.cluster, begin, event.seq, event.observed_at_ms, coordinator=KAFKA)
