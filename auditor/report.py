"""What an audit found: counts by table, and the evidence of each finding."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Verdict = Literal[
    "unexplained",  # it happened, and no table says so
    "phantom",  # a table says it, and it did not happen
]


class AuditFinding(msgspec.Struct, frozen=True):
    """One contradiction, in words that say where to look."""

    verdict: Verdict
    table: str
    says: str
    evidence: dict[str, Any]


class AuditReport(msgspec.Struct):
    """One round of the auditor over one cluster."""

    cluster: str
    # What was held against the tables.
    znodes: int = 0
    records: int = 0
    # Up to which seq of the log.
    watermark: int | None = None
    # Directories of the tree that this session may not list.
    unreadable: list[str] = []
    # Znodes that changed whenever they were looked at: of those nothing is said.
    undecided: int = 0
    # Why the tree was not held against the tables: gaps that the watcher declared.
    gaps: list[str] = []
    findings: list[AuditFinding] = []

    def count(self) -> dict[tuple[str, str], int]:
        """How many findings there are, by table and verdict."""
        counts: dict[tuple[str, str], int] = {}
        for finding in self.findings:
            place = finding.table, finding.verdict
            counts[place] = counts.get(place, 0) + 1
        return counts
