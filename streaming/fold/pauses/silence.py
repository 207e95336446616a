"""What is remembered of a group's partition since its last progress; it travels in fold_state.

Plain values. A silence is the time since a commit last moved the offset forward; whether it is a
pause, or only the time between two commits, is judged in pause.py.
"""

from __future__ import annotations

import msgspec

from streaming.fold.pauses.notes import Note

# Where nobody has measured it yet: the old consumer commits every 60 s.
UNMEASURED_WAIT_MS = 60_000
_WAITS = 5
# In a storm without any progress the oldest are forgotten.
_MOST_SPANS = 64


class Span(msgspec.Struct, array_like=True):
    """A time in which something kept the group from reading. `to_ms` None: it still does.

    Of owner_stuck: one in which somebody owned the partition, who may have been stuck.
    """

    held: str
    from_ms: int
    to_ms: int | None = None
    # The event behind it: the owner went, its session ended, the leader was lost.
    event_seq: int | None = None
    # Who owned the partition before; which broker was its last leader.
    owner: str | None = None
    owner_member_id: str | None = None
    broker_id: int | None = None

    @property
    def lasted_ms(self) -> int:
        """How long it held; 0 while it does."""
        return 0 if self.to_ms is None else self.to_ms - self.from_ms

    def covers(self, from_ms: int, until_ms: int) -> bool:
        """Whether it holds all the time between two moments."""
        return self.from_ms <= from_ms and (self.to_ms is None or self.to_ms >= until_ms)

    def clip(self, begin_ms: int, to_ms: int) -> tuple[int, int] | None:
        """The part of it between two moments, if any."""
        from_ms = max(self.from_ms, begin_ms)
        until_ms = to_ms if self.to_ms is None else min(self.to_ms, to_ms)
        return (from_ms, until_ms) if from_ms < until_ms else None


class Silence(msgspec.Struct, omit_defaults=True):
    """Since the last progress: the offset as it stands, and what happened meanwhile."""

    offset: int
    # When and by which event it was committed.
    at_ms: int
    seq: int
    # Of the log that the offset belongs to.
    incarnation: int | None = None
    # Where the log ended by the last round before that commit; None: not known.
    log_end: int | None = None
    # How long records waited for the last few commits that something was read by.
    waits: list[int] = msgspec.field(default_factory=list)
    # Since when records are known to wait, and the last round that found none waiting.
    from_ms: int | None = None
    from_seq: int = -1
    empty_ms: int | None = None
    # Who owns the partition, and since when; None: since before the silence.
    has_owner: bool = False
    owner: str | None = None
    owner_member_id: str | None = None
    claim_ms: int | None = None
    spans: list[Span] = msgspec.field(default_factory=list)
    # Who owned it before that and let go without any progress, each with the event of its going.
    tenures: list[Span] = msgspec.field(default_factory=list)
    # Until when more has happened than is remembered.
    forgotten_ms: int | None = None
    # A row of it stands open.
    is_paused: bool = False
    # A round has found that the present owner is stuck.
    is_stuck: bool = False
    # A gap or a hole hid some of what happened.
    is_hidden: bool = False
    # What has happened since the last round, if that had to be written.
    notes: list[Note] = msgspec.field(default_factory=list)

    @property
    def usual_ms(self) -> int | None:
        """How long records usually wait for the next commit: the median of the last few."""
        return sorted(self.waits)[len(self.waits) // 2] if self.waits else None

    def find_limit(self, pause_after_ms: int) -> int:
        """How long a silence may last with nothing to show for it."""
        usual_ms = UNMEASURED_WAIT_MS if self.usual_ms is None else self.usual_ms
        return max(pause_after_ms, 2 * usual_ms)

    def find_begin(self) -> int | None:
        """Since when records wait, as far as anybody knows; None: the last round found none."""
        if self.from_ms is not None:
            return self.from_ms
        return self.at_ms if self.empty_ms is None else None

    def find_ongoing(self, held: str) -> Span | None:
        """The span of that name that has not ended."""
        for span in self.spans:
            if span.held == held and span.to_ms is None:
                return span
        return None

    def go_on(self, offset: int, at_ms: int, seq: int, log_end: int | None) -> None:
        """Progress: another silence begins. A leader that is away still is.

        Nobody owned it, and yet somebody read: what follows is judged anew.
        """
        begin_ms, spans = self.from_ms, self.spans
        if begin_ms is not None and not (spans and any(s.clip(begin_ms, at_ms) for s in spans)):
            self.waits = [*self.waits[1 - _WAITS :], at_ms - begin_ms]
        self.offset, self.at_ms, self.seq, self.log_end = offset, at_ms, seq, log_end
        self.empty_ms = self.claim_ms = None
        self.is_hidden = False
        self._begin_anew()
        if spans:
            away = self.find_ongoing("leader_away")
            self.spans = [] if away is None else [away]

    def find_empty(self, at_ms: int) -> None:
        """No record waits any more; what still holds may hold the next."""
        self.empty_ms = at_ms
        self._begin_anew()
        if self.spans:
            self.spans = [span for span in self.spans if span.to_ms is None]

    def _begin_anew(self) -> None:
        self.from_ms, self.from_seq, self.is_paused, self.is_stuck = None, -1, False, False
        self.forgotten_ms = None
        if self.tenures:
            self.tenures = []

    def add_span(self, span: Span) -> None:
        """Something holds, or held."""
        self.spans.append(span)
        self._forget_oldest(self.spans)

    def end_tenure(self, at_ms: int, seq: int) -> None:
        """Whoever owned the partition does no more, by that event."""
        if self.has_owner:
            who = self.owner, self.owner_member_id
            self.tenures.append(Span("owner_stuck", self.claim_ms or 0, at_ms, seq, *who))
            self._forget_oldest(self.tenures)
        self.has_owner, self.owner, self.owner_member_id = False, None, None
        self.is_stuck = False

    def _forget_oldest(self, spans: list[Span]) -> None:
        closed = [each for each in spans if each.to_ms is not None]
        if len(closed) > _MOST_SPANS:
            spans.remove(closed[0])
            self.forgotten_ms = max(self.forgotten_ms or 0, closed[0].to_ms or 0)
