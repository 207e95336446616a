"""Commits as the rounds take them over: none that came after the brokers were asked."""

from __future__ import annotations

from tests.reference.fold.presence import Moment
from tests.reference.fold.things import Commit, Subject

# Of the states of one subject that wait, the newest are remembered, and before those the last of
# each second; so many in all. Before the first round only one.
_NEWEST = 8
_MOST = 16

State = tuple[int, Commit | None]


def remember(states: list[State]) -> list[State]:
    """Those of the states that are not forgotten before a round asks for them."""
    seconds = [None if s is None or s.at is None else s.at // 1000 for _, s in states]
    kept = []
    for number, state in enumerate(states):
        is_new = number >= len(states) - _NEWEST
        is_overtaken = seconds[number] is not None and seconds[number] in seconds[number + 1 :][:1]
        if is_new or not is_overtaken:
            kept.append(state)
    return kept[-_MOST:]


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
        if self.asked_seq is None:
            self.waiting = {subject: states[-1:] for subject, states in self.waiting.items()}
        self.asked_seq = max(after_seq, -1 if self.asked_seq is None else self.asked_seq)
        taken = []
        for subject, states in self.waiting.items():
            known = [state for state in remember(states) if state[0] <= self.asked_seq]
            taken += [(subject, commit) for _, commit in known]
            self.waiting[subject] = [state for state in states if state[0] > self.asked_seq]
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
