"""Topics that went since the requests of the last round: what was said may be of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from streaming.fold.cluster_state import ClusterState
from streaming.fold.row import Row

# Ends of rows of `topics` after which the same topic stands on.
_GOES_ON = ("changed", "unreadable")


@dataclass
class Topics:
    """By topic: (seq of its end, its incarnation), in order."""

    gone: dict[str, list[tuple[int, int | None]]] = field(default_factory=dict)

    @classmethod
    def recall(cls, found: Iterable[Row]) -> Topics:
        """From rows of `topics` that have ended."""
        topics = cls()
        for row in sorted(found, key=lambda row: int(row["valid_to_seq"])):
            if row["broker_id"] is None and row["ended_by"] not in _GOES_ON:
                topics.note_end(row["topic"], row["valid_to_seq"], row["incarnation"])
        return topics

    def note_end(self, topic: str, seq: int, incarnation: int | None) -> None:
        """A topic went."""
        self.gone.setdefault(topic, []).append((seq, incarnation))

    def went_since(self, topic: str, seq: int) -> bool:
        """Whether the topic went after that."""
        return any(ended > seq for ended, _ in self.gone.get(topic, ()))

    def is_other_since(self, topic: str, seq: int, cluster_state: ClusterState) -> bool:
        """Whether another incarnation went after that seq, as far as both are known."""
        ended, then = self.gone.get(topic, [(-1, None)])[-1]
        now = find_incarnation(cluster_state, topic)
        return ended > seq and None not in (now, then) and then != now

    def find_then(self, topic: str, seq: int, cluster_state: ClusterState) -> int | None:
        """The incarnation that stood at a seq, or else the first that was known after it."""
        ends = (i for ended, i in self.gone.get(topic, ()) if ended > seq and i is not None)
        return next(ends, find_incarnation(cluster_state, topic))

    def forget(self, seq: int) -> None:
        """Nothing up to there is asked for again."""
        for topic, ends in list(self.gone.items()):
            self.gone[topic] = kept = [end for end in ends if end[0] > seq]
            if not kept:
                del self.gone[topic]


def find_incarnation(cluster_state: ClusterState, topic: str) -> int | None:
    """The incarnation of a topic that stands."""
    state = cluster_state.topics.get(topic)
    return None if state is None else state.incarnation
