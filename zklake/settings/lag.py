"""The settings of lag: how long something must last before it is a status, or a point."""

from __future__ import annotations

from pydantic import PositiveInt

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
    point_s: PositiveInt = 60
    """offset_lag keeps one point of each partition in so long, unless its status changes."""
