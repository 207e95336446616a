"""What the auditor asks of a lake: open rows by znode, how far it goes, what it declared."""

from __future__ import annotations

from typing import Any, NamedTuple

from auditor.comparison import OpenZnodeRow, State, ZnodeTable
from auditor.places import NAMES, SHARED
from delta_tables import reading
from delta_tables.reading import quote
from zklake.errors import LakeError


class Watermark(NamedTuple):
    """The last record that is in the lake."""

    log_id: str
    seq: int
    observed_at_ms: int
    offset: int


class Lake:
    """One cluster's tables, each opened anew for each question."""

    def __init__(self, path: str, cluster: str) -> None:
        self.path, self.cluster = path, cluster

    def find_watermark(self) -> Watermark:
        """Up to where everything is folded: znode_events is written last."""
        events = reading.open_table(self.path, self.cluster, "znode_events")
        actions: Any = None if events is None else events.get_add_actions(flatten=True)
        names = [] if actions is None else actions.schema.names
        seqs = actions.column("max.seq").to_pylist() if "max.seq" in names else []
        known = [seq for seq in seqs if seq is not None]
        if not known:
            raise LakeError(f"the lake {self.path} holds no event of {self.cluster} yet")
        rows = self._ask(
            "SELECT log_id, seq, observed_at_ms, kafka_offset FROM znode_events "  # noqa: S608
            f"WHERE seq = {max(known)} LIMIT 1",
            "znode_events",
        )
        return Watermark(*rows[0].values())

    def read_rows(self) -> dict[ZnodeTable, OpenZnodeRow]:
        """The open rows of every audited table."""
        return {place: row for table in NAMES for place, row in self._read_table(table)}

    def _read_table(self, table: str) -> list[tuple[ZnodeTable, OpenZnodeRow]]:
        columns, name = NAMES[table]
        zookeeper = "AND coordinator = 'zookeeper'" if table in SHARED else ""
        tokens = "AND path NOT LIKE '/delegation_token/%'" if table == "cluster_state" else ""
        rows = self._ask(
            f"SELECT {', '.join(columns)}, czxid, znode_version, valid_from_seq FROM {table} "  # noqa: S608
            f"WHERE is_open {zookeeper} {tokens}",
            table,
        )
        return [
            (
                ZnodeTable(table, name(row)),
                OpenZnodeRow(State(row["czxid"], row["znode_version"]), row["valid_from_seq"]),
            )
            for row in rows
        ]

    def find_gaps(self, since_seq: int) -> list[str]:
        """Why the watcher could not see: of gaps that are open, or that ended after that seq."""
        return [
            str(row["reason"])
            for row in self._ask(
                "SELECT DISTINCT reason FROM log_gaps "  # noqa: S608
                # One-shot watches merge changes, but what stands in the end is seen.
                f"WHERE coalescing IS NOT TRUE AND (is_open OR valid_to_seq > {since_seq})",
                "log_gaps",
            )
        ]

    def find_last_event(self, path: str) -> dict[str, Any] | None:
        """What the log last said of a znode."""
        rows = self._ask(
            "SELECT seq, op, fidelity, stat['czxid'] AS czxid, stat['version'] AS version "  # noqa: S608
            f"FROM znode_events WHERE path = {quote(path)} ORDER BY seq DESC LIMIT 1",
            "znode_events",
        )
        return rows[0] if rows else None

    def list_records(self, log_id: str, first: int, last: int) -> list[dict[str, Any]]:
        """The records of a log that znode_events has rows of, by their offset."""
        return self._ask(
            "SELECT kafka_offset, seq, op FROM znode_events "  # noqa: S608
            f"WHERE log_id = {quote(log_id)} AND kafka_offset BETWEEN {first} AND {last}",
            "znode_events",
        )

    def list_quarantined(self, first: int, last: int) -> set[int]:
        """The offsets of records that could not be folded."""
        rows = self._ask(
            f"SELECT kafka_offset FROM quarantine WHERE kafka_offset BETWEEN {first} AND {last}",  # noqa: S608
            "quarantine",
        )
        return {row["kafka_offset"] for row in rows}

    def _ask(self, sql: str, table: str) -> list[dict[str, Any]]:
        opened = reading.open_table(self.path, self.cluster, table)
        return [] if opened is None else reading.query_rows({table: opened}, sql)
