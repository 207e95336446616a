"""Counts commits, rows and files in the tables' _delta_log directories, of a lake on local disk.

Reads what Delta wrote, so it counts what truly happened; on an object store it counts nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from delta_tables.catalog import TABLES


@dataclass(frozen=True)
class TableLog:
    """One look at a table's log: what is new in it since the last one, and how long it is."""

    table: str
    commits: int
    rows: int
    files: int


class DeltaLogs:
    """Looks at one cluster's tables again and again; what was there at first is not counted."""

    def __init__(self, lake: str, cluster: str) -> None:
        self._lake = None if "://" in lake else Path(lake) / cluster
        self._seen: dict[str, int] = {}

    def look(self) -> Iterator[TableLog]:
        """Every table that is there."""
        if self._lake is None:
            return
        for table in TABLES:
            directory = self._lake / table.name / "_delta_log"
            if directory.is_dir():
                yield self._look_at(table.name, directory)

    def _look_at(self, table: str, directory: Path) -> TableLog:
        names = os.listdir(directory)
        versions = sorted(int(n[:-5]) for n in names if n.endswith(".json") and n[:-5].isdigit())
        last = versions[-1] if versions else -1
        seen = self._seen.setdefault(table, last)
        news = [version for version in versions if version > seen]
        self._seen[table] = last
        rows = sum(_count_rows(directory / f"{version:020}.json") for version in news)
        return TableLog(table, len(news), rows, len(names))


def _count_rows(commit: Path) -> int:
    """Of the files that a commit adds; not every writer sums them up in its commitInfo."""
    try:
        adds = (msgspec.json.decode(line).get("add") for line in commit.read_bytes().splitlines())
        # What maintenance only moves into other files is not written anew.
        stats = [add.get("stats") for add in adds if add and add.get("dataChange")]
        return sum(msgspec.json.decode(text).get("numRecords", 0) for text in stats if text)
    except (OSError, ValueError, msgspec.DecodeError):
        return 0  # cleaned away meanwhile
