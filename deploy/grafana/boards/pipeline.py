"""The dashboard of zklake itself: is what the other dashboards show still true?"""

from __future__ import annotations

from deploy.grafana.boards.choices import BAD, CLUSTERS, UP
from deploy.grafana.boards.choices import CLUSTER as C
from deploy.grafana.boards.notifier import NOTIFIER
from deploy.grafana.boards.stream import LAKE, STREAM
from deploy.grafana.boards.watcher import WATCHER
from deploy.grafana.panels import Board, Query, Section, stat

_TRUTH = Section(
    "Is it true?",
    (
        stat(
            "Lake is stale",
            "Its last event is older than dashboard.stale_after_s.",
            Query(f"zklake_lake_stale{{{C}}}"),
            words=BAD,
        ),
        stat(
            "Age of the last event",
            "A quiet cluster gets an event a minute.",
            Query(f"time() - zklake_lake_watermark_timestamp_seconds{{{C}}}"),
            unit="s",
            limits=((150, "red"),),
        ),
        stat(
            "Age of the last sample",
            "Of log ends: lag is as old.",
            Query(f"time() - zklake_sampled_timestamp_seconds{{{C}}}"),
            unit="s",
            limits=((120, "orange"),),
        ),
        stat(
            "Parts",
            "As the dashboard sees them, if their addresses are set.",
            Query(f"zklake_part_up{{{C}}}", "{{part}}"),
            words=UP,
        ),
        stat(
            "Open gaps",
            "Times in which changes could pass unseen, and which last.",
            Query(f"zklake_open_gaps{{{C}}}"),
            limits=((1, "red"),),
        ),
        stat(
            "Left out of /metrics",
            "Series of a set beyond metrics.most_series.",
            Query(f"zklake_metrics_left_out{{{C}}}", "{{set}}"),
        ),
    ),
)

PIPELINE = Board(
    "pipeline",
    "zklake: pipeline health",
    "Whether what the other dashboards show is still true: watcher, log, stream, lake, notifier.",
    (CLUSTERS,),
    (_TRUTH, WATCHER, STREAM, LAKE, NOTIFIER),
)
