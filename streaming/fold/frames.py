"""Complete looks at the tree and at Kafka's groups, and which of them close what they did not meet.

Pure: events in, closures out. A frame that vouches for nothing older (base none) closes every row
that it did not see again. So does the first frame begun after a hole in the log: what the missing
records said, nobody knows. A frame with a hole inside is not complete, and closes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from delta_tables.samples import KAFKA
from zklake.events.envelope import Event

# What matters to frames.
FRAME_OPS = ("frame_begin", "in_sync", "seq_hole")


@dataclass(frozen=True)
class Closure:
    """The end of a complete look: whatever was last seen before it began is gone."""

    cluster: str
    begin_seq: int
    end_seq: int
    observed_at_ms: int
    # Whose rows it ends.
    coordinator: str = "zookeeper"


@dataclass
class Frames:
    """The frames of one cluster that have begun, by id: where; and what bears on the next one."""

    begun: dict[str, int] = field(default_factory=dict)
    last_complete_begin: int = -1
    last_hole: int = -1

    def follow(self, event: Event) -> Closure | None:
        """Take one event; a closure if it ends a frame that closes."""
        if event.op == "seq_hole":
            self.last_hole = max(self.last_hole, event.seq)
        if event.frame is None:
            return None
        if event.op == "frame_begin":
            self.begun[event.frame.id] = event.seq
            return None
        begin = self.begun.pop(event.frame.id, None) if event.op == "in_sync" else None
        if begin is None or self.last_hole > begin:
            return None
        is_healing = self.last_complete_begin < self.last_hole
        self.last_complete_begin = max(self.last_complete_begin, begin)
        if event.frame.base != "none" and not is_healing:
            return None
        return Closure(event.cluster, begin, event.seq, event.observed_at_ms)


@dataclass
class Rounds:
    """Sampling rounds that vouch for all Kafka-stored groups: what was said only before is gone.

    After a start it knows none: the same one again ends nothing more.
    """

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
