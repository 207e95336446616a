"""How far the lake has come: read from the lake at start, kept in memory between batches.

The lake alone is asked. What a Spark checkpoint says is never trusted (see source.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deltalake import CommitProperties, DeltaTable, Transaction

from delta_tables import reading
from delta_tables.tables.quarantine import QUARANTINE

# By this id the quarantine knows up to when its rows are of logs that the lake has left: µs, UTC.
_LEFT_MARK = "zklake.left_log"
# How far the log was read when an event of the stream's own is the last one, less its seq: a hole
# stands one before the record that showed it, a repeat takes the seq of the next good record.
_READ_BEYOND = {"seq_hole": 1, "seq_repeat": -1}


@dataclass
class LakeProgress:
    """The watermark and what else a fold must remember of records it no longer sees."""

    log_id: str | None = None
    # The largest seq of znode_events, and where the stream goes on reading.
    seq: int = -1
    offset: int | None = None
    # How far the log was read: further than the watermark, by what waits and by heartbeats.
    read_seq: int = -1
    read_offset: int = -1
    read_at_ms: int | None = None
    # The last offset in quarantine: bad records have no seq to guard them.
    quarantined_offset: int = -1
    # Whether the watermark is an event of the stream's own: its record in Kafka has another seq.
    is_own: bool = False


def read_progress(lake: str, cluster: str, topic: str) -> LakeProgress:
    """What the lake says of itself; all defaults when it is empty."""
    tables = reading.open_tables(lake, cluster)
    progress = LakeProgress()
    if "znode_events" in tables:
        _read_watermark(tables, progress)
    if QUARANTINE.name in tables:
        progress.quarantined_offset = _read_quarantined(tables, topic)
    return progress


def leave_log(lake: str, cluster: str) -> None:
    """Another log takes the place of the lake's: what is in quarantine is not of it.

    Its offsets begin anew, and a bad record says of no log that it is its own.
    """
    table = reading.open_table(lake, cluster, QUARANTINE.name)
    if table is None:
        return
    sql = "SELECT CAST(max(ingested_at) AS BIGINT) AS last_us FROM quarantine"
    last_us = reading.query_rows({QUARANTINE.name: table}, sql)[0]["last_us"]
    if last_us is not None:
        mark = CommitProperties(app_transactions=[Transaction(_LEFT_MARK, last_us)])
        table.create_write_transaction([], "append", table.schema(), [], commit_properties=mark)


def _read_quarantined(tables: dict[str, DeltaTable], topic: str) -> int:
    left_us = tables[QUARANTINE.name].transaction_version(_LEFT_MARK) or 0
    last = reading.query_rows(
        tables,
        f"SELECT max(kafka_offset) AS last FROM quarantine WHERE kafka_topic = '{topic}' "
        f"AND CAST(ingested_at AS BIGINT) > {left_us}",
    )[0]["last"]
    return -1 if last is None else last


def _read_watermark(tables: dict[str, DeltaTable], progress: LakeProgress) -> None:
    def rows(what: str) -> list[dict[str, Any]]:
        return reading.query_rows(tables, f"SELECT {what}")

    last = rows(
        "log_id, seq, op, kafka_offset, observed_at_ms FROM znode_events "
        "WHERE seq = (SELECT max(seq) FROM znode_events) ORDER BY kafka_offset DESC LIMIT 1"
    )
    if not last:
        return
    progress.log_id, progress.seq = last[0]["log_id"], last[0]["seq"]
    progress.offset = last[0]["kafka_offset"] + 1
    progress.is_own = last[0]["op"] in _READ_BEYOND
    progress.read_seq = progress.seq + _READ_BEYOND.get(last[0]["op"], 0)
    progress.read_offset = last[0]["kafka_offset"]
    progress.read_at_ms = last[0]["observed_at_ms"]
