"""The dashboard of lag: how far behind each group is, and how bad that is."""

from __future__ import annotations

from deploy.grafana.boards.choices import (
    CLUSTER,
    CLUSTERS,
    COORDINATORS,
    GROUP,
    GROUP_LEGEND,
    GROUPS,
    STATUSES,
)
from deploy.grafana.panels import Board, Panel, Query, Section, band, draw, rank, stat


def _draw(title: str, says: str, metric: str, unit: str = "short") -> Panel:
    return draw(title, says, Query(f"{metric}{{{GROUP}}}", GROUP_LEGEND), unit=unit)


def _draw_partitions(title: str, metric: str, unit: str = "short") -> Panel:
    query = Query(f"topk(20, {metric}{{{GROUP}}})", "{{group_id}} {{topic}}-{{partition}}")
    return draw(title, "The twenty partitions that are farthest behind.", query, unit=unit)


_ALL = Section(
    "All groups",
    (
        stat(
            "Groups by status",
            "The worst status of a group's partitions; docs/status.md says when each holds.",
            Query(f"zklake_groups{{{CLUSTER}}}", "{{status}}"),
            width=24,
        ),
    ),
)
_CHOSEN = Section(
    "The groups chosen above",
    (
        band(
            "Status",
            "The worst status of the group's partitions, over time.",
            Query(f"zklake_group_status{{{GROUP}}}", GROUP_LEGEND),
            words=STATUSES,
            width=24,
        ),
        _draw(
            "Lag in records",
            "Sum over partitions; those whose lag is not known are left out.",
            "zklake_group_lag",
        ),
        _draw(
            "Lag in time",
            "How much time of the log the slowest partition has still to read.",
            "zklake_group_lag_seconds",
            unit="s",
        ),
        _draw(
            "Lag of the worst partition",
            "Near the sum of all partitions: one of them is stuck, or gets most of the records.",
            "zklake_group_max_lag",
        ),
        _draw(
            "Share of the retained log that is lag",
            "At 100 % records are deleted before they are read.",
            "zklake_group_retention_used",
            unit="percentunit",
        ),
        _draw(
            "Since the last commit",
            "A group that reads commits; one with nothing to read may be silent.",
            "zklake_group_commit_age_seconds",
            unit="s",
        ),
        _draw("Members", "Consumers that are registered in the group.", "zklake_group_members"),
        rank(
            "Farthest behind now",
            "Fifty groups at most.",
            Query(f"topk(50, zklake_group_lag{{{GROUP}}})"),
            width=24,
        ),
    ),
)
_PARTITIONS = Section(
    "Partitions (with metrics.detail = partitions)",
    (
        _draw_partitions("Lag by partition", "zklake_partition_lag"),
        _draw_partitions("Lag in time by partition", "zklake_partition_lag_seconds", unit="s"),
    ),
)

LAG = Board(
    "lag",
    "zklake: lag of consumer groups",
    "How far behind each group is, in records and in time, and how bad that is.",
    (CLUSTERS, COORDINATORS, GROUPS),
    (_ALL, _CHOSEN, _PARTITIONS),
)
