"""A lake that tests write as a stream would: whole tables in one commit, znode_events last."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from deltalake import QueryBuilder, write_deltalake

from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import table_path
from tests.delta_tables.small_lake import _write_row, write_lake, write_rows

CLUSTER = "shop"


def write(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None


class Book:
    """`minute(-5)` is five minutes before `now`."""

    def __init__(self, path: str, now: datetime) -> None:
        self.path, self.now = path, now
        write_lake(path, CLUSTER, {})
        self._seq = 1000

    def minute(self, minutes: float) -> datetime:
        return self.now + timedelta(minutes=minutes)

    def row(self, start: datetime, end: datetime | None = None, **columns: Any) -> dict[str, Any]:
        """A state that began with the next seq."""
        self._seq += 10
        return {
            "valid_from_seq": columns.pop("seq", self._seq),
            "valid_from_at": write(start),
            "valid_to_at": write(end),
            "closed_on": end.date().isoformat() if end else None,
            **columns,
        }

    def lag(
        self,
        status: str | None,
        start: datetime,
        end: datetime | None = None,
        *,
        group: str = "billing",
        partition: int = 0,
        **columns: Any,
    ) -> dict[str, Any]:
        named = {"coordinator": "zookeeper", "group_id": group, "topic": "orders"}
        return self.row(
            start,
            end,
            **named,
            partition=partition,
            status=status,
            lag=None if status is None else 7,
            **columns,
        )

    def tell(self, at: datetime, **tables: list[dict[str, Any]]) -> None:
        """These tables hold these rows; the last event and the last sample are of that time."""
        for name, rows in tables.items():
            self._replace(name, rows)
        self._replace(
            "log_ends", [self.row(at, topic="orders", partition=0, confirmed_at=write(at))]
        )
        self.beat(at)

    def beat(self, at: datetime, *, folded_at: datetime | None = None) -> None:
        """One more event."""
        self._seq += 10
        event = {
            "seq": self._seq,
            "op": "heartbeat",
            "observed_at_ms": int(at.timestamp() * 1000),
            "observed_at": write(at),
            "observed_on": at.date().isoformat(),
            "ingested_at": write(folded_at or at),
        }
        write_rows(self.path, CLUSTER, TABLE_BY_NAME["znode_events"], [event])

    def _replace(self, name: str, rows: list[dict[str, Any]]) -> None:
        table = TABLE_BY_NAME[name]
        values = ", ".join(_write_row(table, {"cluster": CLUSTER, **row}) for row in rows)
        sql = f"SELECT * FROM (VALUES {values}) AS t({', '.join(table.names)})"
        path = table_path(self.path, CLUSTER, name)
        write_deltalake(path, QueryBuilder().execute(sql), mode="overwrite")
