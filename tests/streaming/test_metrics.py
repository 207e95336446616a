from __future__ import annotations

import json
import threading
from pathlib import Path

from prometheus_client import generate_latest

from streaming.lake.delta_logs import DeltaLogs, TableLog
from streaming.metrics import ClusterMetrics, StreamMetrics
from streaming.phases import Phases


def write_commit(lake: Path, table: str, version: int, rows: int) -> None:
    log = lake / "c" / table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    add = {"path": "p", "dataChange": True, "stats": json.dumps({"numRecords": rows})}
    lines = ('{"commitInfo": {}}', json.dumps({"add": add}), '{"add": {"dataChange": true}}')
    (log / f"{version:020}.json").write_text("\n".join(lines))


def test_commits_and_rows_are_read_off_the_delta_log(tmp_path: Path) -> None:
    logs = DeltaLogs(str(tmp_path), "c")
    assert list(logs.look()) == []
    write_commit(tmp_path, "broker_membership", 0, 100)
    assert list(logs.look()) == [TableLog("broker_membership", 0, 0, 1)]
    write_commit(tmp_path, "broker_membership", 1, 3)
    write_commit(tmp_path, "broker_membership", 2, 4)
    (tmp_path / "c" / "broker_membership" / "_delta_log" / "_last_checkpoint").touch()
    assert list(logs.look()) == [TableLog("broker_membership", 2, 7, 4)]
    assert list(logs.look()) == [TableLog("broker_membership", 0, 0, 4)]
    assert list(DeltaLogs("s3://b/lake", "c").look()) == []


def test_every_metric_of_a_cluster_bears_its_name() -> None:
    metrics = StreamMetrics()
    for cluster in ("a", "b"):
        ClusterMetrics(metrics, cluster).count_commits(TableLog("topics", 2, 7, 4))
    ClusterMetrics(metrics, "a").show_behind(5)
    text = generate_latest(metrics.registry).decode()
    assert 'zklake_stream_rows_total{cluster="a",table="topics"} 7.0' in text
    assert 'zklake_stream_commits_total{cluster="b",table="topics"} 2.0' in text
    assert 'zklake_stream_records_behind{cluster="a"} 5.0' in text
    assert 'zklake_stream_batches_total{cluster="b"} 0.0' in text
    assert 'zklake_stream_seconds_since_batch{cluster="b"}' in text


def test_phases_are_timed_from_several_threads() -> None:
    metrics = StreamMetrics()
    phases = Phases(ClusterMetrics(metrics, "a").count_phase)

    def work() -> None:
        with phases.time("topics"):
            pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Phases().time("nobody counts"):
        pass
    text = generate_latest(metrics.registry).decode()
    assert 'zklake_stream_phase_seconds_count{cluster="a",phase="topics"} 4.0' in text
