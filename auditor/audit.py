"""One round: the tree beside the open rows, and the newest stretch of the log beside its rows.

The lake is always a little behind, and the tree never rests. So a difference counts only if the
znode was in one and the same state all the time until the lake had everything that the watcher saw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from auditor.comparison import Difference, OpenZnodeRow, State, ZnodeTable, find_differences
from auditor.lake import Lake
from auditor.log import LogReader
from auditor.records import RecordAudit
from auditor.report import AuditFinding, AuditReport
from auditor.tree import Tree
from zklake.errors import LakeError

# By how much the lake must be past the watcher's clock: an event may be on its way to the watcher.
_SLACK_MS = 5_000
_LOOKS = 3


@dataclass(frozen=True)
class Pace:
    """How long and how much."""

    # Of the newest records of the log.
    records: int = 100_000
    # For so long the lake keeps every record.
    kept_ms: int = 6 * 86_400_000
    # How long the lake may stand behind; on a quiet cluster it moves once a minute.
    patience_s: float = 300.0
    poll_s: float = 1.0


class Audit:
    """The auditor of one cluster."""

    def __init__(
        self,
        tree: Tree,
        lake: Lake,
        log: LogReader,
        pace: Pace = Pace(),
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._tree, self._lake, self._log, self._pace, self._say = tree, lake, log, pace, say

    def run(self) -> AuditReport:
        """Look once, at everything."""
        report = AuditReport(self._lake.cluster)
        report.watermark = self._lake.find_watermark().seq
        report.findings += self._audit_log(report)
        self._audit_tree(report)
        return report

    def _audit_log(self, report: AuditReport) -> Iterator[AuditFinding]:
        low, _ = self._log.find_bounds()
        log_id, _, at_ms, last = self._lake.find_watermark()
        first = max(low, last - self._pace.records + 1)
        audit = RecordAudit(
            self._lake.list_records(log_id, first, last),
            self._lake.list_quarantined(first, last),
            at_ms - self._pace.kept_ms,
        )
        self._say(f"reading {last - first + 1} offsets of {self._log.where}")
        for record in self._log.read(first, last):
            yield from audit.judge(record)
        yield from audit.finish()
        report.records = audit.records

    def _audit_tree(self, report: AuditReport) -> None:
        since = report.watermark or 0
        self._say("reading the tree")
        tree = dict(self._tree.walk())
        report.znodes, report.unreadable = len(tree), sorted(self._tree.unreadable)
        suspects = self._find_suspects(tree, self._lake.read_rows())
        findings: list[AuditFinding] = []
        for look in range(_LOOKS):
            if not suspects:
                break
            self._say(f"{len(suspects)} differences: waiting for the lake (look {look + 1})")
            self._await_lake()
            confirmed, suspects = self._look_again(suspects)
            findings += [finding for one in confirmed for finding in self._describe(one)]
        report.undecided = len(suspects)
        report.gaps = self._lake.find_gaps(since)
        if not report.gaps:  # else what passed unseen is declared; the next round looks again
            report.findings += findings

    def _find_suspects(
        self,
        tree: Mapping[ZnodeTable, State],
        rows: Mapping[ZnodeTable, OpenZnodeRow],
        places: Iterable[ZnodeTable] | None = None,
    ) -> list[Difference]:
        # What may not be looked at, or lies below what may not be listed, may be there all along.
        unreadable = self._tree.unreadable
        hidden = tuple(f"{path.rstrip('/')}/" for path in unreadable)
        found = find_differences(tree, rows, places)
        return [
            one
            for one in found
            if one.tree or not (one.place.path in unreadable or one.place.path.startswith(hidden))
        ]

    def _look_again(self, suspects: list[Difference]) -> tuple[list[Difference], list[Difference]]:
        """Those that stood still and still differ, and those that moved and differ."""
        # Rows first: what the tree still says after them, it said all the time.
        rows = self._lake.read_rows()
        now = {one.place: self._tree.read(one.place.path) for one in suspects}
        tree = {place: state for place, state in now.items() if state is not None}
        former = {one.place: one for one in suspects}
        found = self._find_suspects(tree, rows, now)
        confirmed = [one for one in found if _stood_still(former[one.place], one)]
        return confirmed, [one for one in found if one not in confirmed]

    def _await_lake(self) -> None:
        """Until the lake holds what the watcher had seen by now, and a little more."""
        wanted = self._log.find_newest_ms() + _SLACK_MS
        deadline = time.monotonic() + self._pace.patience_s
        while self._lake.find_watermark().observed_at_ms < wanted:
            if time.monotonic() > deadline:
                raise LakeError(
                    f"the lake {self._lake.path} did not move for {self._pace.patience_s:.0f} s: "
                    "is `zklake stream` running, and `zklake watch`? Nothing can be audited"
                )
            time.sleep(self._pace.poll_s)

    def _describe(self, one: Difference) -> Iterator[AuditFinding]:
        table, path = one.place
        last_event = self._lake.find_last_event(path)
        if last_event and last_event["op"] == "unreadable":
            return  # declared: the watcher may not read it
        evidence = {
            "path": path,
            "tree": None if one.tree is None else one.tree._asdict(),
            "row": None if one.row is None else {**one.row.state._asdict(), "seq": one.row.seq},
            "last_event": last_event,
        }
        if one.tree is not None:
            blame = (
                "the row is missing" if _shows_state(one.tree, last_event) else "no event shows it"
            )
            says = f"{path} stands in the tree, and {table} does not say so: {blame}"
            yield AuditFinding("unexplained", table, says, evidence)
        if one.row is not None:
            says = f"{table} says that {path} stands since seq {one.row.seq}, and the tree does not"
            yield AuditFinding("phantom", table, says, evidence)


def _stood_still(former: Difference, now: Difference) -> bool:
    """Of a znode that is gone, its row must be the same: it may have come and gone meanwhile."""
    return former.tree == now.tree and (now.tree is not None or former.row == now.row)


def _shows_state(state: State, last_event: Mapping[str, object] | None) -> bool:
    return last_event is not None and (last_event["czxid"], last_event["version"]) == state
