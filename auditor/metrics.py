"""What the auditor counts."""

from __future__ import annotations

import time

from auditor.places import NAMES
from auditor.report import AuditReport
from zklake.metrics import Metrics, counter, gauge

_TABLES = (*NAMES, "znode_events", "quarantine", "log_gaps")


class AuditMetrics(Metrics):
    """0 is the promise of the first two."""

    PREFIX = "zklake_audit"

    unexplained = gauge(
        "States and records that no table has, in the last round: expected 0.",
        "cluster",
        "table",
    )
    phantom = gauge(
        "Rows that nothing stands behind, in the last round: expected 0.", "cluster", "table"
    )
    undecided = gauge("Znodes that changed at every look of the last round.", "cluster")
    znodes = gauge("Znodes that the last round compared with the tables.", "cluster")
    records = gauge("Records of the log that the last round compared with the tables.", "cluster")
    last_round_timestamp_seconds = gauge("When the last round ended.", "cluster")
    rounds = counter("Rounds that came to their end.", "cluster")
    failures = counter("Rounds that could not: a server or the lake was away.", "cluster")

    def note(self, report: AuditReport) -> None:
        """A round has ended."""
        cluster, counts = report.cluster, report.count()
        for table in _TABLES:
            self.unexplained.labels(cluster, table).set(counts.get((table, "unexplained"), 0))
            self.phantom.labels(cluster, table).set(counts.get((table, "phantom"), 0))
        self.undecided.labels(cluster).set(report.undecided)
        self.znodes.labels(cluster).set(report.znodes)
        self.records.labels(cluster).set(report.records)
        self.last_round_timestamp_seconds.labels(cluster).set(time.time())
        self.rounds.labels(cluster).inc()
