from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest

from bench.processes import list_children
from delta_tables import reading
from lab.cluster import Cluster
from lab.ports import find_free_ports
from streaming.lake.lease import FILE_NAME
from tests.streaming.story import Story
from tests.streaming.topic import Topic
from zklake.errors import LakeError
from zklake.events.envelope import Event

ROOT = Path(__file__).parents[2]
# So large that it takes long to commit: who does not wait for it leaves it half done.
LARGE_BATCH, LARGE_BYTES = 2_100, 40_000


def fetch(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def wait_for(
    condition: Callable[[], bool],
    process: subprocess.Popen[bytes],
    log: Path,
    pause_s: float = 0.2,
) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(pause_s)


def start(options: list[str], place: Path, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "zklake", "stream", *options]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("wb") as out:
        return subprocess.Popen(command, stdout=out, stderr=out, cwd=place, env=environ)


@pytest.mark.spark
@pytest.mark.integration
@pytest.mark.timeout(600)
def test_the_daemon_waits_for_the_log_folds_it_and_ends_well(
    cluster: Cluster, tmp_path: Path
) -> None:
    lake, log, place = tmp_path / "lake", tmp_path / "log", tmp_path / "place"
    place.mkdir()
    port = find_free_ports(1)[0]
    topic = Topic(cluster.bootstrap, create=False)
    name = topic.name.removeprefix("zklake.")
    (place / "zklake.toml").write_text(
        f'[stream]\nhttp = "127.0.0.1:{port}"\ntrigger_ms = 100\nlease_stale_s = 6\n'
    )
    options = ["--log", cluster.bootstrap, "--lake", str(lake)]
    url = f"http://127.0.0.1:{port}"
    with start([*options, "--cluster", f"{name},absent"], place, log) as process:
        try:
            away = "the log's Kafka does not answer"
            said = f"{name}: {away}; absent: {away}\n"
            wait_for(lambda: fetch(f"{url}/readyz") == (503, said), process, log)
            refuse_a_second_stream(options, name, tmp_path, process.pid)
            topic.create()
            story = Story(name).register(1, czxid=10)
            topic.write(story.events)
            sql = "SELECT czxid FROM broker_membership WHERE is_open"
            found = [{"czxid": 10}]
            wait_for(
                lambda: (
                    (lake / name / "broker_membership" / "_delta_log" / f"{0:020}.json").exists()
                    and reading.read_rows(str(lake), name, sql) == found
                ),
                process,
                log,
            )
            wait_for(lambda: fetch(f"{url}/readyz") == (503, f"absent: {away}\n"), process, log)
            assert fetch(f"{url}/healthz") == (200, "alive\n")
            for wanted in (
                f'zklake_stream_events_total{{cluster="{name}"}} 2.0',
                f'zklake_stream_records_behind{{cluster="{name}"}} 0.0',
                f'zklake_stream_log_files{{cluster="{name}",table="znode_events"}} ',
            ):
                wait_for(partial(shows, f"{url}/metrics", wanted), process, log)
            heap = re.search(
                r"(?m)^zklake_stream_heap_used_bytes (\S+)$", fetch(f"{url}/metrics")[1]
            )
            assert heap is not None
            assert float(heap[1]) > 1e6
            stop_amid_a_batch(topic, story, lake, process, log)
            assert process.wait(60) == 0, log.read_text()
        finally:
            process.kill()
    assert holds(lake, "znode_events", story), "the batch was not finished"
    lines = [line for line in log.read_text().splitlines() if '"waiting"' in line]
    assert len(lines) == 2, "one line for each cluster, not one for each try"
    assert not list(lake.rglob("*.lease*"))
    assert [path.name for path in place.iterdir()] == ["zklake.toml"]


def stop_amid_a_batch(
    topic: Topic, story: Story, lake: Path, process: subprocess.Popen[bytes], log: Path
) -> None:
    """SIGTERM when a batch is in its first table and not in its last."""
    for _ in range(5):
        topic.write(write_sets(story, LARGE_BATCH))
        wait_for(partial(holds, lake, "broker_membership", story), process, log, pause_s=0.01)
        with frozen(process.pid):
            if holds(lake, "znode_events", story):
                continue  # we were late
            process.send_signal(signal.SIGTERM)
        return
    pytest.fail("every batch was over before it could be met")


def write_sets(story: Story, count: int) -> list[Event]:
    for version in range(len(story.events), len(story.events) + count):
        story.alter(1, czxid=10, version=version, zxid=100 + version, port=9092 + version % 2)
    events = [
        msgspec.structs.replace(event, data=(event.data or "").ljust(LARGE_BYTES))
        for event in story.events[-count:]
    ]
    return events


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def holds(lake: Path, table: str, story: Story) -> bool:
    """Whether the end of the story is in that table."""
    marker = reading.read_marker(str(lake), story.cluster, table, story.log_id)
    return marker == story.events[-1].seq


def shows(url: str, wanted: str) -> bool:
    return wanted in fetch(url)[1]


def refuse_a_second_stream(options: list[str], name: str, tmp_path: Path, pid: int) -> None:
    log = tmp_path / "second-log"
    (tmp_path / "zklake.toml").write_text('[stream]\nhttp = "127.0.0.1:0"\n')
    with start([*options, "--cluster", name], tmp_path, log) as second:
        try:
            assert second.wait(240) == LakeError.exit_code
        finally:
            second.kill()
    said = " ".join(log.read_text().split())
    assert f"is being written by another `zklake stream`: process {pid} on" in said
    assert "--take-over" in said


@pytest.mark.spark
@pytest.mark.integration
def test_sigterm_while_spark_starts_leaves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    lake, log = tmp_path / "lake", tmp_path / "log"
    (tmp_path / "zklake.toml").write_text('[stream]\nhttp = "127.0.0.1:0"\n')
    options = ["--log", cluster.bootstrap, "--lake", str(lake), "--cluster", "c"]
    with start(options, tmp_path, log) as process:
        try:
            # The lease is taken before Spark starts, which takes seconds.
            wait_for(lambda: bool(list(lake.rglob(FILE_NAME))), process, log, pause_s=0.01)
            jvms = list_children(process.pid)
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0, log.read_text()
        finally:
            process.kill()
    assert not list(lake.rglob(f"{FILE_NAME}*")), "the lease is still there"
    assert [pid for pid in jvms if Path(f"/proc/{pid}").exists()] == []
