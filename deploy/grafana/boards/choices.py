"""What is chosen above a dashboard, and the words and colours that all of them share."""

from __future__ import annotations

from delta_tables.statuses import ORDER
from deploy.grafana.panels import Variable, Word

CLUSTER = 'cluster="$cluster"'
GROUP = 'cluster="$cluster", coordinator=~"$coordinator", group_id=~"$group"'
GROUP_LEGEND = "{{group_id}} ({{coordinator}})"

CLUSTERS = Variable("cluster", "label_values(zklake_lake_stale, cluster)")
COORDINATORS = Variable(
    "coordinator", f"label_values(zklake_group_members{{{CLUSTER}}}, coordinator)", is_multiple=True
)
GROUPS = Variable(
    "group",
    f'label_values(zklake_group_members{{{CLUSTER}, coordinator=~"$coordinator"}}, group_id)',
    is_multiple=True,
)

# From best to worst, as the numbers of zklake_group_status.
_COLORS = ("green", "yellow", "purple", "text", "orange", "red", "dark-red")
STATUSES = tuple(Word(word, color) for word, color in zip(ORDER, _COLORS, strict=True))
UP = (Word("down", "red"), Word("up", "green"))
GOOD = (Word("no", "red"), Word("yes", "green"))
BAD = (Word("no", "green"), Word("yes", "red"))
NEITHER = (Word("no", "text"), Word("yes", "blue"))


def quantile(share: float, histogram: str, window: str = "5m") -> str:
    """PromQL: the quantile of a histogram of the chosen cluster."""
    buckets = f"rate({histogram}_bucket{{{CLUSTER}}}[{window}])"
    return f"histogram_quantile({share}, sum by (le) ({buckets}))"
