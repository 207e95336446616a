"""Commits as the rounds take them over: none that came after the brokers were asked."""

from __future__ import annotations

from tests.reference.fold.presence import Moment
from tests.reference.fold.things import Commit, Subject

# So many states of one subject may wait; before the first round only one.
_WAITING = 16

State = tuple[int, Commit | None]


class Commits:
    """What stands as of the last question, and what has come since."""

    def __init__(self) -> None:
        self.current: dict[Subject, Commit] = {}
        self.waiting: dict[Subject, list[State]] = {}
        self.asked_seq: int | None = None
        self.round_seq = -1

    def take(self, moments: list[Moment], after_seq: int) -> list[tuple[Subject, Commit | None]]:
        """A round; the states that it takes over, in order. None: the commit is gone."""
        for moment in moments:
            if moment.event.seq > self.round_seq:
                self._wait(moment)
        self.round_seq = moments[-1].event.seq
        self.asked_seq = max(after_seq, -1 if self.asked_seq is None else self.asked_seq)
        taken = []
        for subject, states in self.waiting.items():
            for seq, commit in list(states):
                if seq <= self.asked_seq:
                    states.remove((seq, commit))
                    taken.append((subject, commit))
        for subject, commit in taken:
            self.current.pop(subject, None)
            if commit is not None:
                self.current[subject] = commit
        return taken

    def _wait(self, moment: Moment) -> None:
        for move in moment.moves:
            if move.what == "commit":
                states = self.waiting.setdefault(move.key, [])
                states.append((moment.event.seq, move.after))
                most = 1 if self.asked_seq is None else _WAITING
                del states[:-most]
