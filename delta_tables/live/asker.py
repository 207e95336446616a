"""Who answers the queries of `why` from one snapshot of one lake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from delta_tables.asking.lakes import Lake
from delta_tables.live.freshness import find_doubts
from delta_tables.live.tables import Row, Tables


class SnapshotAsker:
    """All of it from tables that are open already."""

    def __init__(self, tables: Tables) -> None:
        self.lakes: Sequence[Lake] = [Lake(tables.lake, tables.cluster)]
        self._tables = tables

    def ask(
        self, sql: str, names: Sequence[str], only: Mapping[str, str] | None = None
    ) -> list[Row]:
        """Rows."""
        return self._tables.narrow(only or {}).query(sql, *names)

    def look_up(self, lake: Lake, sql: str, name: str, only: Mapping[str, str]) -> list[Row]:
        """The few rows of one lake: there is one."""
        return self._tables.narrow(only).query(sql, name)

    def find_doubts(self, lake: Lake, at: datetime) -> list[str]:
        """About a moment."""
        return find_doubts(self._tables, at)
