"""The sampler's turns as the log has them: a slow broker's own rounds count into its turn."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from zklake.events.envelope import Event
from zklake.events.samples import Round


class Turn(NamedTuple):
    """One moment of asking: the commits said before it, and the answers, however late."""

    # From the requests to the record of the first answers, and to that of the last.
    first_s: float
    last_s: float
    # Answers of brokers, each to two requests.
    answered: int
    failed: int
    # Records of rounds: more than one when a broker was slow.
    rounds: int
    # Commits said for this turn; `newest` are those of the highest offset among them.
    commits: int
    newest: int
    # Partitions whose log ends were said, by all of its rounds.
    moved: int


class Turns:
    """Fed with the events of one log, in its order."""

    def __init__(self) -> None:
        # Said, but not asked after yet.
        self._commits: list[tuple[int, Counter[int]]] = []
        self._said: dict[int, Counter[int]] = {}
        self._rounds: dict[int, list[Round]] = {}
        # Of the round that is being said, and of those that were.
        self._moving = 0
        self._moved = Counter[int]()

    def note(self, event: Event) -> bool:
        """Take the next event; True when the first round of a turn ends with it."""
        if event.group_commit is not None:
            offsets = Counter(each.committed_offset or 0 for each in event.group_commit.commits)
            self._commits.append((event.seq, offsets))
        if event.log_ends is None:
            return False
        self._moving += len(event.log_ends.partitions)
        ended = event.log_ends.round
        if ended is None:
            return False
        self._moved[ended.after_seq] += self._moving
        self._moving = 0
        # after_seq names the moment of asking: a slow broker's own round has that of its requests.
        is_first = ended.after_seq not in self._rounds
        if is_first:
            self._claim(ended.after_seq)
        self._rounds.setdefault(ended.after_seq, []).append(ended)
        return is_first

    def _claim(self, after_seq: int) -> None:
        """What was said up to the moment of asking belongs to this turn."""
        mine = Counter[int]()
        for _, offsets in (each for each in self._commits if each[0] <= after_seq):
            mine.update(offsets)
        self._commits = [each for each in self._commits if each[0] > after_seq]
        self._said[after_seq] = mine

    def sum_up(self) -> list[Turn]:
        """All turns so far; of the last ones, answers may be missing."""
        return [
            _sum_up(rounds, self._said[at], self._moved[at])
            for at, rounds in sorted(self._rounds.items())
        ]


def _sum_up(rounds: list[Round], offsets: Counter[int], moved: int) -> Turn:
    return Turn(
        first_s=rounds[0].took_ms / 1000,
        last_s=rounds[-1].took_ms / 1000,
        answered=sum(len(each.brokers_answered) for each in rounds),
        failed=sum(len(each.brokers_failed) for each in rounds),
        rounds=len(rounds),
        commits=offsets.total(),
        newest=offsets[max(offsets)] if offsets else 0,
        moved=moved,
    )
