"""What is remembered of one (group, topic, partition) since its first row."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.fold.presence import Moment
from tests.reference.fold.rebalance_changes import is_known, subscribes
from tests.reference.fold.things import Commit, Subject


def is_of_another(subject: Subject, commit: Commit, moments: list[Moment]) -> bool:
    """The commit speaks of a former topic of that name."""
    topic = moments[-1].topics.get(subject.topic)
    if topic is None or topic.czxid is None:
        return False
    if commit.zxid is not None:
        return commit.zxid < topic.czxid
    # The one that stood when it came, or else the first that came then.
    before = [moment for moment in moments if moment.event.seq <= commit.seq][-1:]
    after = [moment for moment in moments if moment.event.seq > commit.seq]
    stood = [moment.topics.get(subject.topic) for moment in before + after]
    known = [one.czxid for one in stood if one is not None and one.czxid is not None]
    return known[0] != topic.czxid


def is_read(subject: Subject, moment: Moment) -> bool:
    """Somebody is there who reads the topic, or may."""
    if subject.group in moment.unknown_groups:
        return True
    members = [member for (group, _), member in moment.members.items() if group == subject.group]
    return any(not is_known(member) or subscribes(member, subject.topic) for member in members)


def is_unowned(subject: Subject, moment: Moment) -> bool:
    """Somebody should own it, and surely nobody does."""
    if subject in moment.owners or subject.group in moment.unassigned_groups:
        return False
    return is_read(subject, moment)


class Facts:
    """Times are epoch ms. `began_seq`, `began_ms`: the round that opened the first row."""

    def __init__(self, subject: Subject, first: Commit | None, began_seq: int, began_ms: int):
        self.subject = subject
        self.began_seq, self.began_ms = began_seq, began_ms
        self.progress_ms = began_ms
        # The last commit of a known offset.
        self.last: Commit | None = None
        self.rewound_from: int | None = None
        self.rewound_ms: int | None = None
        self.lag: int | None = None
        self.lag_since_ms: int | None = None
        self.rising_ms = began_ms
        self.rising_lag: int | None = None
        if first is not None and first.offset is not None and first.offset >= 0:
            self.last = first
            if first.at is not None:
                self.progress_ms = min(first.at, began_ms)

    def count_commit(self, commit: Commit, moments: list[Moment]) -> None:
        """One more, at this round."""
        if commit.offset is None or commit.offset < 0:
            return
        at = moments[-1].event.observed_at_ms
        ms = max(self.progress_ms, min(at if commit.at is None else commit.at, at))
        self.forget_former(moments)
        last = None if self.last is None else self.last.offset
        if last is None or commit.offset > last:
            self.progress_ms = ms
        elif commit.offset < last:
            if self.rewound_from is None:
                self.rewound_ms = ms
            self.rewound_from = max(self.rewound_from or 0, last)
        self.last = commit
        if self.rewound_from is not None and commit.offset >= self.rewound_from:
            self.rewound_from = self.rewound_ms = None

    def forget_former(self, moments: list[Moment]) -> None:
        """Offsets of a former topic of that name say nothing of this one's."""
        if self.last is not None and is_of_another(self.subject, self.last, moments):
            self.last = self.rewound_from = self.rewound_ms = None

    def begin_topic(self) -> None:
        """Another topic of that name than in the row before, or none."""
        self.lag_since_ms = self.rewound_from = self.rewound_ms = None

    def count_lag(self, lag: int | None, at: int) -> None:
        """What this round measured; of what it could not, it says nothing."""
        if lag == 0:
            self.lag_since_ms = None
        if lag and self.lag_since_ms is None:
            self.lag_since_ms = at
        if not lag or self.lag is None or lag < self.lag:
            self.rising_ms, self.rising_lag = at, lag
        self.lag = lag

    def find_left_ms(self, moments: list[Moment]) -> int | None:
        """When the last member left that read the topic; None while one is there."""
        return self._find_end(moments, lambda moment: is_read(self.subject, moment))

    def find_unowned_ms(self, moments: list[Moment]) -> int | None:
        """Since when nobody owns it that should; None while it is not so."""
        return self._find_end(moments, lambda moment: not is_unowned(self.subject, moment))

    def was_read(self, moments: list[Moment]) -> bool:
        """Somebody was there who read the topic since this began."""
        since = [moment for moment in moments if moment.event.seq >= self.began_seq]
        return any(is_read(self.subject, moment) for moment in since)

    def _find_end(self, moments: list[Moment], is_there: Callable[[Moment], bool]) -> int | None:
        """Back to the event after the last at which it was there; not before the first row."""
        ended_ms = None
        for moment in reversed(moments):
            if is_there(moment):
                return ended_ms
            if moment.event.seq <= self.began_seq:
                break
            ended_ms = moment.event.observed_at_ms
        return self.began_ms
