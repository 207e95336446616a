"""The notifier's section of the pipeline's dashboard. Its `cluster` comes from the scrape job."""

from __future__ import annotations

from deploy.grafana.boards.choices import CLUSTER as C
from deploy.grafana.panels import Query, Section, draw, stat

NOTIFIER = Section(
    "Notifier",
    (
        stat(
            "Since its last look",
            "It looks at the lake every alerts.interval_s.",
            Query(f"time() - zklake_alerts_last_look_timestamp_seconds{{{C}}}", "{{instance}}"),
            unit="s",
            width=6,
            limits=((300, "red"),),
        ),
        stat(
            "Given up in 24 h",
            "Messages that could not be sent for alerts.give_up_s.",
            Query(f"increase(zklake_alerts_given_up_messages_total{{{C}}}[24h])", "{{instance}}"),
            width=6,
            limits=((1, "red"),),
        ),
        draw(
            "Open incidents",
            "By rule: docs/alerts.md.",
            Query(f"zklake_alerts_open_incidents{{{C}}}", "{{rule}}"),
            width=6,
        ),
        draw(
            "Messages that wait",
            "A receiver that takes none makes only its own wait.",
            Query(f"zklake_alerts_waiting_messages{{{C}}}", "{{notifier}}"),
            width=6,
        ),
    ),
)
