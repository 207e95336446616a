"""How far the lake has come: read from the lake at start, kept in memory between batches.

The lake alone is asked. What a Spark checkpoint says is never trusted (see source.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deltalake import DeltaTable

from delta_tables import reading

HEARTBEAT_MS = 60_000


@dataclass
class Progress:
    """The watermark and what else a fold must remember of records it no longer sees."""

    log_id: str | None = None
    # The largest seq of znode_events, and where the stream goes on reading.
    seq: int = -1
    offset: int | None = None
    # How far the log was read: further than the watermark, by what waits and by heartbeats.
    read_seq: int = -1
    read_offset: int = -1
    read_at_ms: int | None = None
    # The last minute of which znode_events keeps a heartbeat.
    heartbeat_minute: int = -1
    # The last offset in quarantine: bad records have no seq to guard them.
    quarantined_offset: int = -1

    def note_read(self, seq: int | None, offset: int | None, at_ms: int | None) -> None:
        """Remember how far a batch went."""
        self.read_seq = max(self.read_seq, -1 if seq is None else seq)
        self.read_offset = max(self.read_offset, -1 if offset is None else offset)
        self.read_at_ms = at_ms if self.read_at_ms is None else max(self.read_at_ms, at_ms or 0)


def read_progress(lake: str, cluster: str, topic: str) -> Progress:
    """What the lake says of itself; all defaults when it is empty."""
    tables = reading.open_tables(lake, cluster)
    progress = Progress()
    if "znode_events" in tables:
        _read_watermark(tables, progress)
    if "quarantine" in tables:
        sql = "SELECT max(kafka_offset) AS last FROM quarantine WHERE kafka_topic = '{}'"
        last = reading.query_rows(tables, sql.format(topic))[0]["last"]
        progress.quarantined_offset = -1 if last is None else last
    return progress


def _read_watermark(tables: dict[str, DeltaTable], progress: Progress) -> None:
    def rows(what: str) -> list[dict[str, Any]]:
        return reading.query_rows(tables, f"SELECT {what}")

    last = rows(
        "log_id, seq, kafka_offset, observed_at_ms FROM znode_events "
        "WHERE seq = (SELECT max(seq) FROM znode_events) ORDER BY kafka_offset DESC LIMIT 1"
    )
    if not last:
        return
    progress.log_id, progress.seq = last[0]["log_id"], last[0]["seq"]
    progress.offset = last[0]["kafka_offset"] + 1
    progress.read_seq, progress.read_offset = progress.seq, last[0]["kafka_offset"]
    progress.read_at_ms = last[0]["observed_at_ms"]
    beat = rows("max(observed_at_ms) AS at_ms FROM znode_events WHERE op = 'heartbeat'")[0]["at_ms"]
    progress.heartbeat_minute = -1 if beat is None else beat // HEARTBEAT_MS
