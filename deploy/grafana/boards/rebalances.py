"""The dashboard of rebalances: how often, how long, and who is without an owner."""

from __future__ import annotations

from deploy.grafana.boards.choices import CLUSTERS, COORDINATORS, GROUP, GROUP_LEGEND, GROUPS
from deploy.grafana.panels import Board, Panel, Query, Section, draw, rank

_COUNT = f"zklake_group_rebalances_total{{{GROUP}}}"
_FAILED = f"zklake_group_failed_rebalances_total{{{GROUP}}}"
_SECONDS = f"zklake_group_rebalance_seconds_total{{{GROUP}}}"


def _draw(title: str, says: str, expr: str, unit: str = "short") -> Panel:
    return draw(title, says, Query(expr, GROUP_LEGEND), unit=unit)


REBALANCES = Board(
    "rebalances",
    "zklake: rebalances",
    "How often groups rebalance, how long that takes, and how long nobody reads meanwhile.",
    (CLUSTERS, COORDINATORS, GROUPS),
    (
        Section(
            "The groups chosen above",
            (
                _draw(
                    "Rebalances per hour",
                    "Many in a row are a storm; the view rebalance_frequency says what began them.",
                    f"increase({_COUNT}[1h])",
                ),
                _draw(
                    "Failed rebalances per hour",
                    "Partitions stayed without an owner, and nobody tried any more.",
                    f"increase({_FAILED}[1h])",
                ),
                _draw(
                    "Share of the time spent in rebalances",
                    "Over the last hour. Not known of groups that Kafka stores.",
                    f"rate({_SECONDS}[1h])",
                    unit="percentunit",
                ),
                _draw(
                    "Time of one rebalance",
                    "Average over the last hour. Not known of groups that Kafka stores.",
                    f"increase({_SECONDS}[1h]) / increase({_COUNT}[1h])",
                    unit="s",
                ),
                _draw(
                    "Partitions without an owner",
                    "Above 0 for long: a rebalance failed, or members do not claim their share.",
                    f"zklake_group_unowned_partitions{{{GROUP}}}",
                ),
                _draw(
                    "Members",
                    "Who comes or goes begins a rebalance.",
                    f"zklake_group_members{{{GROUP}}}",
                ),
                _draw(
                    "Partitions",
                    "Partitions that the group owns or has committed.",
                    f"zklake_group_partitions{{{GROUP}}}",
                ),
                rank(
                    "Most rebalances in the last day",
                    "The groups that are worth a look.",
                    Query(f"topk(20, increase({_COUNT}[1d]))"),
                ),
            ),
        ),
    ),
)
