"""Every fold of groups there is, and by which rules they judge."""

from __future__ import annotations

from dataclasses import dataclass, field

from streaming.fold.cluster_state import ClusterState
from streaming.fold.group_folds import GroupFolds
from streaming.fold.lag.fold import LagFold
from streaming.fold.lag.status import Thresholds
from streaming.fold.rebalances.episode import Pace
from streaming.fold.rebalances.fold import RebalanceFold
from zklake.settings.models import Settings


@dataclass(frozen=True)
class Rules:
    """What settings decide of the folds of groups."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    pace: Pace = field(default_factory=Pace)


def read_rules(settings: Settings) -> Rules:
    """What the settings say."""
    lag, stream = settings.lag, settings.stream
    return Rules(
        Thresholds(
            stalled_after_ms=1000 * lag.stalled_after_s,
            warn_after_ms=1000 * lag.warn_after_s,
            unowned_after_ms=1000 * lag.unowned_after_s,
            abandoned_after_ms=1000 * lag.abandoned_after_s,
            point_ms=1000 * lag.point_s,
            points_per_round=lag.points_per_round,
            pause_after_ms=1000 * lag.pause_after_s,
        ),
        Pace(stream.rebalance_quiet_ms, stream.rebalance_fail_ms),
    )


def make_group_folds(cluster: str, rules: Rules) -> GroupFolds:
    """Folds that have followed nothing yet."""
    folds = (LagFold(cluster, rules.thresholds), RebalanceFold(cluster, pace=rules.pace))
    return GroupFolds(ClusterState(), folds)
