"""Records of the log beside the rows of znode_events and quarantine: each once, none more. Pure.

Of the heartbeats the lake keeps one a minute, so none of them has to be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from auditor.log import Head, Record
from auditor.report import AuditFinding

# What the stream itself writes of a break in the log, at the offset where it met it.
_OF_STREAM = ("seq_hole", "seq_repeat")
_HEARTBEAT = "heartbeat"


class RecordAudit:
    """A stretch of the log, record by record; `rows` of znode_events, offsets of quarantine.

    Rows of records from before `kept_since_ms` may have been trimmed.
    """

    def __init__(
        self,
        rows: Iterable[dict[str, Any]],
        quarantined: Collection[int],
        kept_since_ms: int = 0,
    ) -> None:
        rows = list(rows)
        self._rows = {row["kafka_offset"]: row for row in rows if row["op"] not in _OF_STREAM}
        self._breaks = {row["kafka_offset"] for row in rows if row["op"] in _OF_STREAM}
        seqs = Counter(row["seq"] for row in rows if row["op"] not in _OF_STREAM)
        self._twice = sorted(seq for seq, count in seqs.items() if count > 1)
        self._quarantined, self._kept_since_ms = quarantined, kept_since_ms
        self._met: set[int] = set()
        self._last: Head | None = None
        self.records = 0

    def judge(self, record: Record) -> Iterator[AuditFinding]:
        """The next record."""
        self.records += 1
        self._met.add(record.offset)
        head = record.head
        if head is not None:
            yield from self._judge_seq(record.offset, head)
            self._last = head
        row = self._rows.get(record.offset)
        if row is None:
            if not self._may_lack(record):
                yield self._miss(record)
        elif head is None or row["seq"] != head.seq:
            yield AuditFinding(
                "phantom",
                "znode_events",
                f"the row of offset {record.offset} has another seq than the record",
                {"offset": record.offset, "row_seq": row["seq"], "seq": head and head.seq},
            )

    def _may_lack(self, record: Record) -> bool:
        head = record.head
        if record.offset in self._quarantined or record.offset in self._breaks:
            return True
        if head is None:
            return False
        return head.op == _HEARTBEAT or head.observed_at_ms < self._kept_since_ms

    def _judge_seq(self, offset: int, head: Head) -> Iterator[AuditFinding]:
        last = self._last
        if last is None or last.log_id != head.log_id or head.seq == last.seq + 1:
            return
        if offset not in self._breaks and offset not in self._quarantined:
            yield AuditFinding(
                "unexplained",
                "log_gaps",
                f"seq {head.seq} follows {last.seq} in the log, and no gap says so",
                {"offset": offset, "seq": head.seq, "last_seq": last.seq},
            )

    def _miss(self, record: Record) -> AuditFinding:
        head = record.head
        if head is None:
            says = f"the record at offset {record.offset} is no event, and not in quarantine"
            return AuditFinding("unexplained", "quarantine", says, {"offset": record.offset})
        return AuditFinding(
            "unexplained",
            "znode_events",
            f"seq {head.seq} ({head.op} {head.path or ''}) is in the log and not in the lake",
            {"offset": record.offset, "seq": head.seq, "op": head.op, "path": head.path},
        )

    def finish(self) -> Iterator[AuditFinding]:
        """After the last record: rows that no record stands behind."""
        for offset in sorted(set(self._rows) - self._met):
            row = self._rows[offset]
            yield AuditFinding(
                "phantom",
                "znode_events",
                f"seq {row['seq']} is in the lake, and no record at offset {offset} of the log",
                {"offset": offset, "seq": row["seq"], "op": row["op"]},
            )
        for seq in self._twice:
            yield AuditFinding(
                "phantom", "znode_events", f"seq {seq} has more than one row", {"seq": seq}
            )
