"""Our own names. What is not known is no sample; every name says which cluster it speaks of."""

from __future__ import annotations

from dashboard.metrics.family import MetricSet
from dashboard.metrics.own_cluster import ABOUT_CLUSTER, LEFT_OUT, PIPELINE
from dashboard.metrics.own_groups import GROUPS, PARTITIONS

OWN = MetricSet(
    name="zklake",
    title="Our own names",
    says='Roll-ups by group; each partition too with `detail = "partitions"`. What is not known '
    "is no sample. A group that both ZooKeeper and Kafka keep counts once for each `coordinator`.",
    families=(*GROUPS, *PARTITIONS, *ABOUT_CLUSTER, *PIPELINE, LEFT_OUT),
    is_merged=False,
)
