"""What an episode remembers beyond the columns of its open row; it travels in fold_state."""

from __future__ import annotations

import msgspec

from streaming.fold.life import Moment


class Tries(msgspec.Struct, array_like=True):
    """What one session did: runs of claims, and whether its last deed was a claim."""

    rounds: int = 0
    is_claiming: bool = False
    # Claims given back for no trigger, and when the last was seen; unless it claims again at once.
    given_back: int = 0
    given_ms: int = 0
    # By ZooKeeper's clock that was not after this; None: not known yet.
    max_ms: int | None = None


class Touched(msgspec.Struct, array_like=True):
    """A partition whose owner changed in the episode."""

    topic: str
    partition: int
    # Its owner at the begin; the member is None where nobody knows it.
    had_owner: bool
    before: str | None
    # The seq of its last claim in the episode, and whether it has not been released since.
    claim_seq: int | None = None
    is_held: bool = False
    released_ms: int | None = None
    unowned_ms: int = 0
    # The session that gave it back last, if nobody has claimed it since.
    given_by: str | None = None


class EpisodeState(msgspec.Struct):
    """What the open row does not say."""

    last: Moment
    last_ms: int
    is_weak: bool
    # Whether the row's trigger is a cause, and not only a sign that there was one.
    is_explained: bool
    claim: Moment | None = None
    # When the watcher saw it.
    claim_ms: int = 0
    # Of the last change that may make everybody let go.
    trigger_seq: int = -1
    attempts: int = 0
    conflicts: int = 0
    # Something happened to owners that nobody saw happen.
    is_hidden: bool = False
    # ZooKeeper's clock, as of the latest change that bears its time; and by how much the watcher's
    # was ahead of it when that was least: a change is seen late, never early.
    zookeeper_ms: int | None = None
    ahead_ms: int | None = None
    # Sessions that gave something back since then.
    untimed: list[str] = msgspec.field(default_factory=list)
    # By session.
    tries: dict[str, Tries] = msgspec.field(default_factory=dict)
    touched: dict[str, Touched] = msgspec.field(default_factory=dict)
