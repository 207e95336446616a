"""The rules, one file each. A new one: its settings, its file, its line here."""

from __future__ import annotations

from alerts.rule import RuleKind
from alerts.rules import (
    broker_down,
    broker_flap,
    controller_flap,
    group_lag,
    group_status,
    offline_partition,
    pipeline_stale,
    rebalance_storm,
    time_lag,
    under_replicated,
)

KINDS: tuple[RuleKind, ...] = (
    group_status.KIND,
    offline_partition.KIND,
    controller_flap.KIND,
    rebalance_storm.KIND,
    broker_down.KIND,
    pipeline_stale.KIND,
    group_lag.KIND,
    time_lag.KIND,
    under_replicated.KIND,
    broker_flap.KIND,
)
KIND_BY_NAME = {kind.name: kind for kind in KINDS}
