"""Where a stream goes on that stopped right behind an event of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streaming.lake.progress import read_progress
from tests.streaming.story import Story
from tests.streaming.test_batch import TOPIC, Log, encoded
from zklake.events.envelope import Stat, decode

BREAKS = "SELECT op, seq, kafka_offset, missed FROM znode_events WHERE op LIKE 'seq_%' ORDER BY seq"
SET_ASIDE = "SELECT kafka_offset, reason FROM quarantine ORDER BY kafka_offset"


def make_story() -> Story:
    """Three records; heartbeats that follow within the minute are not kept."""
    return Story().register(1, czxid=10).add(op="heartbeat", path="/")


def find_gaps(log: Log) -> list[dict[str, Any]]:
    return log.rows("SELECT reason, valid_from_seq FROM log_gaps ORDER BY valid_from_seq")


def test_a_hole_is_told_once(tmp_path: Path) -> None:
    story = make_story()
    story.add(op="heartbeat", path="/", seq=1006)
    log = Log(tmp_path, encoded(story.events))
    log.fold(4)
    hole = {"op": "seq_hole", "seq": 1005, "kafka_offset": 3, "missed": 3}
    assert log.rows(BREAKS) == [hole]
    progress = read_progress(log.lake, "c", TOPIC)
    assert (progress.seq, progress.read_seq, progress.offset) == (1005, 1006, 4)
    assert progress.is_own

    story.broker("delete", 1, zxid=20, stat=Stat(czxid=10), seq=1007)
    log.values = encoded(story.events)
    log.fold(5)
    assert log.rows(BREAKS) == [hole]
    assert log.rows(SET_ASIDE) == []
    ended = log.rows("SELECT ended_by, valid_to_seq FROM broker_membership")
    assert ended == [{"ended_by": "deleted", "valid_to_seq": 1007}]


def test_a_record_that_comes_again_is_set_aside_and_told_once(tmp_path: Path) -> None:
    story = make_story()
    good, again = encoded(story.events), encoded(story.events[1:2])
    beat = encoded(story.add(op="heartbeat", path="/").events[-1:])
    log = Log(tmp_path, [*good, *again, *beat])
    log.fold(5)
    repeat = {"op": "seq_repeat", "seq": 1003, "kafka_offset": 3, "missed": None}
    aside = [{"kafka_offset": 3, "reason": "seq 1001 stands at an earlier offset already"}]
    assert (log.rows(BREAKS), log.rows(SET_ASIDE)) == ([repeat], aside)
    (kept,) = log.rows("SELECT record FROM quarantine")
    assert decode(kept["record"]) == story.events[1]
    progress = read_progress(log.lake, "c", TOPIC)
    assert (progress.seq, progress.read_seq, progress.offset) == (1003, 1002, 4)
    assert progress.is_own

    log.values += encoded(story.leave(1, czxid=10, zxid=20).events[-1:])
    log.fold(6)
    assert (log.rows(BREAKS), log.rows(SET_ASIDE)) == ([repeat], aside)
    assert log.rows("SELECT is_open FROM broker_membership") == [{"is_open": False}]
    assert [gap["reason"] for gap in find_gaps(log)] == ["seq_repeat"]


def test_a_record_may_come_again_in_a_later_batch(tmp_path: Path) -> None:
    """Only how far the log was read is known of the earlier ones."""
    story = make_story()
    again = encoded(story.events[:2])
    log = Log(tmp_path, encoded(story.events))
    log.fold(3)
    log.values += [*again, *encoded(story.leave(1, czxid=10, zxid=20).events[-1:])]
    log.fold(4, 5, 6)
    assert [row["kafka_offset"] for row in log.rows(SET_ASIDE)] == [3, 4]
    assert [(row["op"], row["seq"], row["kafka_offset"]) for row in log.rows(BREAKS)] == [
        ("seq_repeat", 1003, 3),
        ("seq_repeat", 1003, 4),
    ]
    seqs = log.rows("SELECT seq FROM znode_events WHERE op NOT LIKE 'seq_%' ORDER BY seq")
    assert [row["seq"] for row in seqs] == [1000, 1001, 1002, 1003]
    log.fold(6)
    assert len(log.rows(BREAKS)) == 2
