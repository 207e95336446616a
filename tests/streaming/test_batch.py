from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.records import make_records
from delta_tables import reading
from streaming.batch import Fold
from streaming.lake.lake import Lake
from streaming.lake.progress import read_progress
from tests.streaming.story import BORN_MS, Story
from zklake.events.envelope import Event, encode

TOPIC = "zklake.c"


class Log:
    """A log in memory, folded from any offset as a stream that just started would."""

    def __init__(self, lake: Path, values: Sequence[bytes]) -> None:
        self.lake, self.values = str(lake), list(values)
        Lake(self.lake, "c").create_tables()

    def fold(self, *edges: int) -> None:
        """Start anew from the lake's watermark, and fold up to each of these offsets in turn."""
        progress = read_progress(self.lake, "c", TOPIC)
        fold = Fold(Lake(self.lake, "c"), progress, TOPIC)
        start = progress.offset or 0
        for edge in edges:
            values = self.values[start:edge]
            fold.fold_batch(make_records(values, start))
            start = edge

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return reading.read_rows(self.lake, "c", sql)

    def versions(self) -> dict[str, int]:
        return {name: t.version() for name, t in reading.open_tables(self.lake, "c").items()}


def encoded(events: Sequence[Event]) -> list[bytes]:
    return [encode(event) for event in events]


BROKERS = "SELECT * FROM broker_membership ORDER BY valid_from_seq"
SEQS = "SELECT seq, kafka_offset FROM znode_events ORDER BY seq"


def test_bad_records_heartbeats_and_strays_of_another_log(tmp_path: Path) -> None:
    story = Story().register(1, czxid=10)
    for _ in range(150):
        story.add(op="heartbeat", path="/")
    bad = [
        b"not json",
        b"\xff\xfe",
        b'{"cluster":"c","log_id":"log-1","op":"set","observed_at_ms":1}',
        b'{"v":2,"cluster":"c","log_id":"log-1","seq":1,"op":"set","observed_at_ms":1}',
        b'{"cluster":"d","log_id":"log-1","seq":1,"op":"set","observed_at_ms":1}',
        b'{"cluster":"c","log_id":"log-1","seq":"many","op":"set","observed_at_ms":1}',
        b"",
    ]
    log = Log(tmp_path, [*bad, *encoded(story.events)])
    log.fold(4, 60, 61, 100)
    log.fold(len(log.values))

    quarantine = log.rows("SELECT kafka_offset, reason, record FROM quarantine ORDER BY 1")
    assert [row["kafka_offset"] for row in quarantine] == list(range(len(bad)))
    assert [bytes(row["record"]) for row in quarantine] == bad
    reasons = [row["reason"] for row in quarantine]
    assert reasons[2] == "not an event: missing_field seq"
    assert "version 2 is newer" in reasons[3]
    assert reasons[4] == "of another cluster: d"

    beats = log.rows("SELECT observed_at_ms FROM znode_events WHERE op = 'heartbeat' ORDER BY seq")
    seconds = [BORN_MS // 1000 + 2 + i for i in range(150)]
    firsts = [seconds[0]] + [s for s in seconds[1:] if s % 60 == 0]
    assert [row["observed_at_ms"] // 1000 for row in beats] == firsts
    assert log.rows("SELECT count(*) AS n FROM broker_membership") == [{"n": 1}]

    other = Story(log_id="log-2")
    other.events = story.events[:]
    log.values += encoded(other.register(2, czxid=50).events[-2:])
    log.fold(len(log.values))
    strays = log.rows(f"SELECT reason FROM quarantine WHERE kafka_offset >= {len(log.values) - 2}")
    assert [row["reason"] for row in strays] == ["of another log: log-2"] * 2
    assert log.rows("SELECT count(*) AS n FROM broker_membership") == [{"n": 1}]
