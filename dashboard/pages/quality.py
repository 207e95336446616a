"""Data quality: what the auditor found, gaps, quarantined records, and how recent each table is."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from dashboard.audited import Audited, ask_auditor
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Instant, choose, say
from dashboard.page import Asked, Data, Page
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.live.tables import NAMES, Row

_GAPS = """
SELECT gap_id, reason, path, coalescing, lives, missed, valid_from_at, valid_to_at, is_open,
  ended_by
FROM log_gaps
WHERE {overlap}
ORDER BY valid_from_seq DESC
LIMIT 200
"""
_QUARANTINED = """
SELECT reason, count(*) AS records, min(kafka_at) AS first_at, max(kafka_at) AS last_at
FROM quarantine
GROUP BY reason
ORDER BY records DESC
LIMIT 100
"""
_LATEST = """
SELECT kafka_topic, kafka_partition, kafka_offset, kafka_at, reason, record
FROM quarantine
ORDER BY kafka_offset DESC
LIMIT 20
"""
_SHOWN_BYTES = 200


def load(asked: Asked) -> Data:
    """The last audit, gaps of the range, all that is in quarantine, and every table."""
    tables = asked.tables
    gaps = tables.query(_GAPS.format(overlap=asked.span.write_overlap()), "log_gaps")
    latest = [
        {**row, "record": (row["record"] or b"")[:_SHOWN_BYTES].decode(errors="backslashreplace")}
        for row in tables.query(_LATEST, "quarantine")
    ]
    auditor = asked.options.audit_http
    return {
        "audit": ask_auditor(auditor, asked.options.cluster) if auditor else None,
        "gaps": gaps,
        "quarantined": tables.query(_QUARANTINED, "quarantine"),
        "latest": latest,
        "tables": [
            tables.derive(("measured", name), (name,), partial(_measure, asked, name))
            for name in NAMES
        ],
    }


def _measure(asked: Asked, name: str) -> Row:
    columns = asked.tables.list_files(name)
    if columns is None:
        return {
            "table": name,
            "version": None,
            "written_at": None,
            "rows": 0,
            "open_rows": None,
            "files": 0,
            "bytes": 0,
        }
    counts = [count or 0 for count in columns["num_records"]]
    flags = columns.get("partition.is_open", [])
    table = TABLE_BY_NAME.get(name)
    is_interval = table is None or table.is_interval
    written = max((ms for ms in columns.get("modification_time", []) if ms), default=None)
    return {
        "table": name,
        "version": asked.tables.versions[name],
        "written_at": datetime.fromtimestamp(written / 1000, UTC) if written else None,
        "rows": sum(counts),
        "open_rows": sum(n for n, flag in zip(counts, flags, strict=False) if flag)
        if is_interval
        else None,
        "files": len(counts),
        "bytes": sum(columns["size_bytes"]),
    }


PAGE = Page(
    "quality",
    "Data quality",
    load,
    NAMES,
    answer={
        "audit": Audited | None,
        "gaps": [describe_rows(_GAPS)],
        "quarantined": [
            describe_rows(
                _QUARANTINED, records=int, first_at=Instant | None, last_at=Instant | None
            )
        ],
        "latest": [describe_rows(_LATEST, record=say(str, "its first bytes, as text"))],
        "tables": [
            {
                "table": choose(*NAMES),
                "version": say(int | None, "version of the Delta table; null: not written yet"),
                "written_at": Instant | None,
                "rows": int,
                "open_rows": int | None,
                "files": int,
                "bytes": int,
            }
        ],
    },
)
