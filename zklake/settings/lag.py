"""The settings of lag: how long something must last before it is a status; how many points."""

from __future__ import annotations

from pydantic import NonNegativeInt, PositiveInt

from zklake.settings.group import Group


class LagSettings(Group):
    """When a partition of a group gets which status in offset_lag: see docs/status.md."""

    stalled_after_s: PositiveInt = 180
    """STALLED: an owner, lag, and no progress for so long."""
    warn_after_s: PositiveInt = 300
    """WARN: lag has grown and never fallen for so long."""
    unowned_after_s: PositiveInt = 10
    """UNOWNED: a member reads the topic, and no owner for so long."""
    abandoned_after_s: PositiveInt = 604_800
    """ABANDONED: neither a member nor progress for so long."""
    points_per_round: NonNegativeInt = 5_000
    """Up to so many changes in a sampling round, each begins a row of its own in offset_lag, and in
    log_ends. Beyond, a partition has one row in point_s, with the least, the most and the last lag
    in it, unless its status, owner, reason or incarnation changes."""
    full_hours: PositiveInt = 6
    """So many hours keep a row for every round; then maintenance makes one a minute of them."""
    point_s: PositiveInt = 60
    """How long one row goes on where a round has more changes than points_per_round."""
    pause_after_s: PositiveInt = 30
    """A pause: an owner, and no progress for so long, and for twice the usual time to a commit."""
