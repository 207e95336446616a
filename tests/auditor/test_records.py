"""A log and its rows: whole, and with one defect planted at a time."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.log import Head, Record
from auditor.records import RecordAudit
from auditor.report import AuditFinding

Row = dict[str, Any]


def make_log(ops: str = "csdhcs") -> list[Record]:
    """Offsets are even: every transaction's end takes one."""
    words = {"c": "create", "s": "set", "d": "delete", "h": "heartbeat"}
    return [
        Record(2 * i, Head(100 + i, words[op], "log", 1000 * i, None if op == "h" else f"/{i}"))
        for i, op in enumerate(ops)
    ]


def make_rows(log: list[Record]) -> list[Row]:
    return [
        {"kafka_offset": offset, "seq": head.seq, "op": head.op}
        for offset, head in log
        if head is not None and head.op != "heartbeat"
    ]


def audit(
    log: list[Record], rows: list[Row], bad: set[int] | None = None, since: int = 0
) -> list[AuditFinding]:
    audit = RecordAudit(rows, bad or set(), since)
    found = [finding for record in log for finding in audit.judge(record)]
    assert audit.records == len(log)
    return [*found, *audit.finish()]


def test_a_whole_log_has_no_findings_with_its_heartbeats_or_without() -> None:
    log = make_log()
    assert audit(log, make_rows(log)) == []
    kept = {"kafka_offset": 6, "seq": 103, "op": "heartbeat"}
    assert audit(log, [*make_rows(log), kept]) == []


@pytest.mark.parametrize("number", range(5))
def test_a_row_that_was_dropped_is_found(number: int) -> None:
    log = make_log()
    rows = make_rows(log)
    dropped = rows.pop(number)
    (finding,) = audit(log, rows)
    assert (finding.verdict, finding.table) == ("unexplained", "znode_events")
    assert finding.evidence["seq"] == dropped["seq"]
    assert finding.evidence["offset"] == dropped["kafka_offset"]


def test_rows_that_may_have_been_trimmed_are_not_missed() -> None:
    log = make_log()
    rows = make_rows(log)[2:]
    assert {finding.evidence["seq"] for finding in audit(log, rows)} == {100, 101}
    assert audit(log, rows, since=2000) == []


def test_a_row_that_was_invented_is_found() -> None:
    log = make_log()
    invented = {"kafka_offset": 5, "seq": 102, "op": "set"}
    found = audit(log, [*make_rows(log), invented])
    assert [one.verdict for one in found] == ["phantom", "phantom"], "no record, and seq 102 twice"
    assert found[0].evidence["offset"] == 5


def test_a_row_with_another_seq_is_found() -> None:
    log = make_log()
    rows = make_rows(log)
    rows[0]["seq"] = 90
    (finding,) = audit(log, rows)
    assert (finding.verdict, finding.evidence["row_seq"]) == ("phantom", 90)


def test_a_hole_in_the_log_is_found_unless_the_stream_has_declared_it() -> None:
    log = make_log()
    del log[2]
    (finding,) = audit(log, make_rows(log))
    assert (finding.verdict, finding.table) == ("unexplained", "log_gaps")
    declared = {"kafka_offset": log[2].offset, "seq": 102, "op": "seq_hole"}
    assert audit(log, [*make_rows(log), declared]) == []


def test_what_is_no_event_must_be_in_quarantine() -> None:
    log = [*make_log(), Record(99, None)]
    (finding,) = audit(log, make_rows(log))
    assert (finding.table, finding.evidence) == ("quarantine", {"offset": 99})
    assert audit(log, make_rows(log), {99}) == []
