"""What the lab's consumers said of their own rebalances, against the table's attempts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.e2e.lake_past import LATE_MS, Row

Report = dict[str, Any]
_TRIES = ("conflict", "rebalanced")


def read_reports(directory: Path, group_id: str) -> dict[str, list[Report]]:
    """By member of the group, all its reports."""
    return {
        file.stem: [json.loads(line) for line in file.read_text().splitlines() if line[:1] == "{"]
        for file in sorted(directory.glob(f"{group_id}_*.log"))
    }


def check_attempts(rows: list[Row], reports: dict[str, list[Report]]) -> Iterator[str]:
    """Tries leave their trace by their claims: no more than the busiest consumer tells of."""
    for row in rows:
        tries = {
            member: [report for report in told if _is_try_in(report, row)]
            for member, told in reports.items()
        }
        most = max(map(len, tries.values()), default=0)
        if row["attempts"] > max(most, 1):
            yield f"{row['attempts']} attempts at {row['valid_from_at']}, and {most} were told"
        has_conflict = any(one["event"] == "conflict" for told in tries.values() for one in told)
        if most and not has_conflict and row["attempts"] == 0 and row["partitions"]:
            yield f"no attempt at {row['valid_from_at']}, and {most} were told"


def _is_try_in(report: Report, row: Row) -> bool:
    begun, ended = row["valid_from_at"] - LATE_MS, row["valid_to_at"] + LATE_MS
    return report["event"] in _TRIES and begun <= report["at_ms"] <= ended
