"""The dashboard of the watched cluster: brokers, controller, partitions."""

from __future__ import annotations

from deploy.grafana.boards.choices import CLUSTER as C
from deploy.grafana.boards.choices import CLUSTERS, UP
from deploy.grafana.panels import Board, Query, Section, band, draw, stat

_NOW = Section(
    "Now",
    (
        stat("Brokers", "Registered in ZooKeeper.", Query(f"zklake_brokers{{{C}}}")),
        stat(
            "Controller",
            "Its broker id; no value: nobody is controller.",
            Query(f"zklake_controller_id{{{C}}}"),
            unit="none",
        ),
        stat(
            "Offline partitions",
            "They have no leader: nobody can read or write them.",
            Query(f"zklake_offline_partitions{{{C}}}"),
            limits=((1, "red"),),
        ),
        stat(
            "Under-replicated",
            "The ISR is smaller than the assignment.",
            Query(f"zklake_under_replicated_partitions{{{C}}}"),
            limits=((1, "orange"),),
        ),
        stat(
            "Not led by the preferred replica",
            "After a restart, until the next preferred election.",
            Query(f"zklake_not_preferred_partitions{{{C}}}"),
            limits=((1, "yellow"),),
        ),
        stat(
            "Topics and partitions",
            "Kafka's own topics included.",
            Query(f"zklake_topics{{{C}}}", "topics"),
            Query(f"zklake_partitions{{{C}}}", "partitions"),
        ),
    ),
)
_HISTORY = Section(
    "Over time",
    (
        band(
            "Brokers up",
            "Every broker that was seen in the last 30 days.",
            Query(f"zklake_broker_up{{{C}}}", "broker {{broker_id}}"),
            words=UP,
        ),
        draw(
            "New sessions of brokers per hour",
            "A broker that comes back has a new session, after a restart as after an expiry.",
            Query(f"increase(zklake_broker_sessions_total{{{C}}}[1h])", "broker {{broker_id}}"),
        ),
        draw(
            "Partitions in trouble",
            "Offline, under-replicated, or not led by the preferred replica.",
            Query(f"zklake_offline_partitions{{{C}}}", "offline"),
            Query(f"zklake_under_replicated_partitions{{{C}}}", "under-replicated"),
            Query(f"zklake_not_preferred_partitions{{{C}}}", "not preferred"),
        ),
        draw(
            "Changes of the controller per hour",
            "Each one makes every broker hear of every partition anew.",
            Query(f"increase(zklake_controller_changes_total{{{C}}}[1h])", "changes"),
        ),
        draw(
            "Controller epoch",
            "It grows by one with every election.",
            Query(f"zklake_controller_epoch{{{C}}}", "epoch"),
        ),
        draw(
            "Records written per second",
            "The ten busiest topics, by their log ends.",
            Query(f"topk(10, rate(zklake_topic_log_end_offset_sum{{{C}}}[5m]))", "{{topic}}"),
            unit="cps",
        ),
    ),
)

CLUSTER = Board(
    "cluster",
    "zklake: cluster health",
    "Brokers, controller and partitions of the watched cluster.",
    (CLUSTERS,),
    (_NOW, _HISTORY),
)
