"""How ready each cluster is for the move to KRaft, by the view migration_readiness.

The words of the view stand here for whoever shows them. Knows neither pages nor the command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from delta_tables.asking.lakes import Lake
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from delta_tables.asking.stats import measure_lake
from zklake.times import write_time

Row = dict[str, Any]
# What each check asks, in the order of the view.
CHECKS: dict[str, str] = {
    "phase": "Which phase is the cluster in?",
    "rollback": "May the move be rolled back now?",
    "leftover": "Is an old /migration left behind?",
    "groups": "Which groups still live in ZooKeeper?",
    "brokers": "Do brokers flap, or are some away?",
    "partitions": "Are partitions offline or under-replicated?",
    "registrations": "What do the brokers' registrations show?",
}
PHASES: dict[str, str] = {
    "not_begun": "not begun",
    "preparing": "preparing: KRaft controllers wait for the brokers",
    "copying": "migrating: the tree is being copied",
    "dual_write": "migrating: dual write",
    "stalled": "stalled: the KRaft controller writes nothing",
    "finalised": "finalised",
    "rolling_back": "rolling back: no controller",
    "rolled_back_leftover": "rolled back, with a leftover",
    "rolled_back": "rolled back",
    "unknown": "unknown",
}
# The worst first.
VERDICTS = ("blocked", "warning", "unknown", "ok")
# On a quiet cluster a lake is up to a minute behind; the view takes silence seriously after two.
_LATE = timedelta(minutes=2)
SQL = """
SELECT cluster, phase, number, check_name, verdict, detail, action, evidence
FROM migration_readiness
ORDER BY cluster, number
"""


class Evidence(msgspec.Struct, frozen=True):
    """One row behind a verdict: its table and valid_from_seq, and what it says."""

    source_table: str
    source_seq: int
    says: str


class Check(msgspec.Struct, frozen=True):
    """One question about the move, and its answer."""

    check_name: str
    verdict: str
    detail: str
    action: str | None
    evidence: list[Evidence]


class Readiness(msgspec.Struct, frozen=True):
    """All checks of one cluster."""

    cluster: str
    phase: str
    checks: list[Check]
    # What makes the answer less than certain.
    doubts: list[str]

    @property
    def verdict(self) -> str:
        """The worst of its checks."""
        return min((check.verdict for check in self.checks), key=VERDICTS.index, default="unknown")


def find_readiness(lakes: Sequence[Lake], limits: Limits) -> list[Readiness]:
    """Ask the view about these clusters; one that it knows nothing of has no checks."""
    with run_query(lakes, SQL, limits) as answer:
        rows = [dict(zip(answer.names, row, strict=True)) for some in answer for row in some]
    return [
        _describe(lake, [row for row in rows if row["cluster"] == lake.cluster]) for lake in lakes
    ]


def _describe(lake: Lake, rows: Sequence[Row]) -> Readiness:
    phase = rows[0]["phase"] if rows else "unknown"
    checks = msgspec.convert(rows, list[Check])
    return Readiness(lake.cluster, phase, checks, list(_find_doubts(lake)))


def _find_doubts(lake: Lake) -> Iterator[str]:
    known = measure_lake(lake.path, lake.cluster).watermark_at
    if known is None:
        yield "the lake has no data yet"
    elif datetime.now(UTC) - known > _LATE:
        yield f"the lake has data up to {write_time(known)}: the checks are of that time"
