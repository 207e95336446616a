"""Records that nobody should have written, sent to a stream that runs: named, and passed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client import generate_latest
from pyspark.sql import SparkSession

from delta_tables import reading
from lab.cluster import Cluster
from streaming.fold.cluster_state import ClusterState
from streaming.metrics import StreamMetrics
from streaming.query import Stream
from streaming.worker import Worker
from tests.streaming.story import Story
from tests.streaming.test_worker import read_czxids, running, wait_for
from tests.streaming.topic import Topic

pytestmark = [
    pytest.mark.spark,
    pytest.mark.integration,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]

Write = Callable[..., bytes]
POISON = "/brokers/topics/poison"
QUARANTINE = "SELECT kafka_offset, reason, record FROM quarantine ORDER BY kafka_offset"


def write(story: Story, **fields: Any) -> bytes:
    """A record that would be the next event, but for these fields."""
    event = {
        "v": 1,
        "cluster": story.cluster,
        "log_id": story.log_id,
        "seq": story.seq,
        "op": "set",
        "observed_at_ms": story.at_ms,
        "path": "/brokers/ids/1",
        "kind": "broker",
    }
    return msgspec.json.encode({**event, **fields})


# The record, and what its row in quarantine says.
HOSTILE: tuple[tuple[Callable[[Story], bytes], str], ...] = (
    (lambda s: write(s, op="merge"), "not an event: unknown op 'merge'"),
    (
        lambda s: write(s, op="gap", gap={"id": "g", "reason": "bored"}),
        "not an event: unknown gap.reason 'bored'",
    ),
    (lambda s: write(s, seq=s.seq + 2**31), "no log jumps that far"),
    (lambda s: write(s, seq=2**53 - 1), "no log jumps that far"),
    (lambda s: write(s, seq=2**53), "not an event: out_of_range $.seq"),
    (lambda s: write(s, seq=-1), "not an event: out_of_range $.seq"),
    (lambda s: b'{"v":2,"seq":9000000000000000}', "event version 2 is newer"),
    (lambda s: write(s, v=2, seq=9_000_000_000_000_000), "event version 2 is newer"),
    (lambda s: write(s, log_id="log-2"), "of another log: log-2"),
    (lambda s: write(s, cluster="d"), "of another cluster: d"),
    (
        lambda s: write(s, observed_at_ms=2**63 - 1),
        "observed_at_ms 9223372036854775807 is not a time",
    ),
    (lambda s: write(s, observed_at_ms=-1), "observed_at_ms -1 is not a time"),
    (lambda s: write(s, op="seq_hole"), "seq_hole is an event of the stream's own"),
    (lambda s: write(s, zxid=2**63), "not an event: out_of_range $.zxid"),
    (lambda s: write(s, stat={"version": 2**31}), "not an event: out_of_range $.stat.version"),
    (lambda s: b"[" * 100_000, "not an event: "),
    (lambda s: b'{"cluster":"\xff"}', "not an event: "),
    (lambda s: b'{"cluster":"\\ud800"}', "not an event: "),
    (lambda s: b"", "empty record"),
)


def register(story: Story, number: int) -> list[Any]:
    known = len(story.events)
    return story.register(number, czxid=number).events[known:]


def test_no_record_stops_the_stream(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    topic, story, metrics = Topic(cluster.bootstrap), Story(), StreamMetrics()
    stream = Stream(cluster.bootstrap, topic.name, "c", str(tmp_path), trigger_ms=0)
    worker = Worker(stream, metrics)
    sent = []
    with running(spark, worker):
        for number, (make, _) in enumerate(HOSTILE, 1):
            topic.write(register(story, number))
            record = make(story)
            sent.append(record)
            topic.write([record])
        topic.write(register(story, 99))
        wait_for(lambda: 99 in read_czxids(tmp_path, "c"), worker)
        # Two of them are strays of other times, and may be found in a batch of their own.
        wait_for(lambda: len(read(tmp_path, QUARANTINE)) == len(HOSTILE), worker)
        assert worker.find_remark() == f"{len(HOSTILE)} records in quarantine since the start"
    assert worker.error is None
    found = read(tmp_path, QUARANTINE)
    assert [bytes(row["record"] or b"") for row in found] == sent
    for row, (_, reason) in zip(found, HOSTILE, strict=True):
        assert reason in row["reason"]
    assert read_czxids(tmp_path, "c") == [*range(1, len(HOSTILE) + 1), 99]
    seqs = [row["seq"] for row in read(tmp_path, "SELECT seq FROM znode_events ORDER BY seq")]
    assert seqs == [event.seq for event in story.events]
    nulls = "SELECT count(*) AS n FROM znode_events WHERE observed_at IS NULL"
    assert read(tmp_path, nulls) == [{"n": 0}]
    counted = f'zklake_stream_quarantined_total{{cluster="c"}} {len(HOSTILE)}.0'
    assert counted in generate_latest(metrics.registry).decode()
    assert (
        'zklake_stream_restarts_total{cluster="c"} 0.0'
        in generate_latest(metrics.registry).decode()
    )


def read(lake: Path, sql: str) -> list[dict[str, Any]]:
    return reading.read_rows(str(lake), "c", sql)


def test_an_event_that_fails_three_times_is_set_aside(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug of ours, which no check of the record foresees."""
    apply, failed = ClusterState.apply, list[int]()

    def fail(cluster_state: ClusterState, event: Any, context: Any) -> Any:
        if event.path == POISON:
            failed.append(event.seq)
            raise ValueError("a bug")
        return apply(cluster_state, event, context)

    monkeypatch.setattr(ClusterState, "apply", fail)
    topic, story = Topic(cluster.bootstrap), Story()
    stream = Stream(cluster.bootstrap, topic.name, "c", str(tmp_path), trigger_ms=0)
    worker = Worker(stream, StreamMetrics())
    first = register(story, 1)
    poison = story.add(op="create", path=POISON, kind="topic").events[-1]
    topic.write([*first, poison, *register(story, 2)])
    with running(spark, worker):
        wait_for(lambda: read_czxids(tmp_path, "c") == [1, 2], worker)
        wait_for(lambda: worker.obstacle is None, worker)
        remark = worker.find_remark() or ""
        topic.write(register(story, 3))
        wait_for(lambda: read_czxids(tmp_path, "c") == [1, 2, 3], worker)
    assert worker.error is None
    assert failed == [poison.seq] * 3
    assert f"could not be folded: seq {poison.seq}: ValueError: a bug" in remark
    (row,) = read(tmp_path, QUARANTINE)
    assert row["reason"] == "it could not be folded: ValueError: a bug"
    seqs = [row["seq"] for row in read(tmp_path, "SELECT seq FROM znode_events ORDER BY seq")]
    assert seqs == [event.seq for event in story.events if event is not poison]
    assert read(tmp_path, "SELECT count(*) AS n FROM log_gaps") == [{"n": 0}], "it has its place"
