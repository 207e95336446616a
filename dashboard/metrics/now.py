"""What holds at the moment of a scrape: how old the lake is, who is up, how long ago.

Ages count up to the lake's last event, not up to now: a lake that stands still has one complaint
(zklake_lake_stale), and not one for every group.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from dashboard.metrics.cluster import Broker
from dashboard.metrics.groups import Group
from dashboard.metrics.snapshot import MetricsSnapshot, Things
from dashboard.pulse import Pulse

# A broker that left is missed for so long.
_SEEN = timedelta(days=30)


class GroupNow(NamedTuple):
    """A group at a moment."""

    group: Group
    commit_age_seconds: float | None


def look(snapshot: MetricsSnapshot, pulse: Pulse) -> Things:
    """The things of that moment, by level."""
    return {
        "pulse": [pulse],
        "part": list(pulse.parts),
        "seen_broker": [one for one in snapshot.brokers if _is_seen(one, pulse.watermark_at)],
        "group_now": [GroupNow(one, _find_age(one, pulse)) for one in snapshot.groups],
    }


def _is_seen(broker: Broker, at: datetime | None) -> bool:
    return broker.left_at is None or at is None or broker.left_at > at - _SEEN


def _find_age(group: Group, pulse: Pulse) -> float | None:
    committed_at = group.sums.committed_at
    if committed_at is None or pulse.watermark_at is None:
        return None
    # A member's clock may be ahead of the watcher's.
    return max(0.0, (pulse.watermark_at - committed_at).total_seconds())
