"""What a silence makes of owners and leaders that come and go. Pure."""

from __future__ import annotations

from streaming.fold.pauses.notes import LeaderTurn, OwnerTurn, Who
from streaming.fold.pauses.silence import Silence, Span

# An old consumer that stops cleanly commits what it has read in its last second.
_LAST_WORDS_MS = 2000


def apply_owner(silence: Silence, turn: OwnerTurn) -> None:
    """An owner came, changed or went."""
    silence.is_hidden |= turn.is_hidden
    silence.end_tenure(turn.at_ms, turn.seq)
    if turn.after is not None:
        if (span := silence.find_ongoing("unowned")) is not None:
            span.to_ms = turn.at_ms
        silence.claim_ms = turn.at_ms
        silence.has_owner = True
        silence.owner, silence.owner_member_id = turn.after.owner, turn.after.owner_member_id
        return
    who = turn.before or Who(None, None)
    if turn.is_session_end:
        _note_crash(silence, turn, who)
    if turn.knows_owner:
        silence.add_span(
            Span("unowned", turn.at_ms, None, turn.seq, who.owner, who.owner_member_id)
        )


def _note_crash(silence: Silence, turn: OwnerTurn, who: Who) -> None:
    """A session ended, and its owner had not committed just before: it had crashed.

    Whatever it read after its last commit is read again by the next owner.
    """
    begin_ms = silence.find_begin()
    if begin_ms is None or turn.at_ms - silence.at_ms <= _LAST_WORDS_MS:
        return
    begin_ms = max(begin_ms, silence.claim_ms or 0)
    if begin_ms < turn.at_ms:
        silence.add_span(
            Span("owner_crashed", begin_ms, turn.at_ms, turn.seq, who.owner, who.owner_member_id)
        )


def apply_leader(silence: Silence, turn: LeaderTurn) -> None:
    """The partition has lost its leader, or has one."""
    span = silence.find_ongoing("leader_away")
    if turn.is_away and span is None:
        away = Span("leader_away", turn.at_ms, None, turn.seq, broker_id=turn.broker_id)
        silence.add_span(away)
    elif not turn.is_away and span is not None:
        span.to_ms = turn.at_ms
