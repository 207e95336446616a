"""`zklake audit`: a round, or one after the other until stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import structlog

from auditor.audit import Audit, Pace
from auditor.lake import Lake
from auditor.log import open_log
from auditor.metrics import AuditMetrics
from auditor.report import AuditReport
from auditor.tree import open_tree
from zklake.errors import ZklakeError
from zklake.health import serve_health
from zklake.settings.models import Settings

_LOG = structlog.get_logger()
_DAY_MS = 86_400_000
# After a round that could not be made.
_RETRY_S = 30.0


def run_round(settings: Settings, say: Callable[[str], None] = lambda line: None) -> AuditReport:
    """One round, with sessions of its own."""
    own, log = settings.audit, settings.log
    kept_days = max(0, settings.maintenance.sample_days - 1)
    pace = Pace(own.records, kept_days * _DAY_MS, own.patience_s)
    with (
        open_tree(settings.zookeeper, own.reads_per_second) as tree,
        open_log(log.bootstrap, log.client, settings.cluster) as records,
    ):
        lake = Lake(settings.lake.path, settings.cluster)
        return Audit(tree, lake, records, pace, say).run()


class Daemon:
    """Round after round; findings are counted and logged, and stop nothing."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # Whether the last round came to its end is no matter of being ready: it is tried again.
        self._remark: str | None = "no round has ended yet"
        self.metrics = AuditMetrics()

    def run(self) -> None:
        """Until SIGTERM or Ctrl-C, also in the middle of a round: it only reads."""
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        own, registry = self._settings.audit, self.metrics.registry
        try:
            with serve_health(own.http, registry, lambda: None, find_remark=lambda: self._remark):
                while True:
                    began = time.monotonic()
                    pause_s = own.interval_s if self.look() else min(_RETRY_S, own.interval_s)
                    time.sleep(max(1.0, pause_s - (time.monotonic() - began)))
        except KeyboardInterrupt:
            _LOG.info("stopped", cluster=self._settings.cluster)

    def look(self) -> bool:
        """One round; whether it came to its end."""
        cluster = self._settings.cluster
        try:
            report = run_round(self._settings)
        except ZklakeError as error:
            self.metrics.failures.labels(cluster).inc()
            self._remark = f"not audited: {error}"
            _LOG.warning("not audited", cluster=cluster, reason=str(error))
            return False
        self.metrics.note(report)
        for finding in report.findings:
            _LOG.error(finding.verdict, cluster=cluster, table=finding.table, says=finding.says)
        counts = {"znodes": report.znodes, "records": report.records, "gaps": report.gaps}
        _LOG.info("audited", cluster=cluster, findings=len(report.findings), **counts)
        found = len(report.findings)
        self._remark = f"{found} contradictions: see the log of zklake audit" if found else None
        return True
