"""What happens to a group's partition between two rounds. Plain values.

Rows and facts change only at rounds: until then these notes wait, also over a restart.
"""

from __future__ import annotations

import msgspec


class Committed(msgspec.Struct, array_like=True, tag="commit", gc=False):
    """A commit, and where the log ended by the last round before it."""

    offset: int | None
    at_ms: int | None
    seq: int
    seen_ms: int
    log_end: int | None


class Who(msgspec.Struct, array_like=True, gc=False):
    """An owner, as far as it is known."""

    owner: str | None
    owner_member_id: str | None


class OwnerTurn(msgspec.Struct, array_like=True, tag="owner", gc=False):
    """An owner came, changed or went; `after` None: nobody owns it now."""

    before: Who | None
    after: Who | None
    seq: int
    at_ms: int
    # The session that held it ended.
    is_session_end: bool
    # Nobody saw it happen.
    is_hidden: bool
    # Whether nobody owns what nobody is said to own.
    knows_owner: bool


class LeaderTurn(msgspec.Struct, array_like=True, tag="leader", gc=False):
    """A partition's state was written: whether it has a leader; the broker that had it last."""

    is_away: bool
    seq: int
    at_ms: int
    broker_id: int | None


class Hidden(msgspec.Struct, array_like=True, tag="hidden", gc=False):
    """From here on nobody saw what happened."""


Note = Committed | OwnerTurn | LeaderTurn | Hidden
