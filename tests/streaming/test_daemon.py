from __future__ import annotations

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from delta_tables import reading
from lab.cluster import Cluster
from lab.ports import find_free_ports
from tests.streaming.story import Story
from tests.streaming.topic import Topic

PROGRAM = "import typer; from zklake.cli.stream import stream; typer.run(stream)"


def fetch(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)


@pytest.mark.spark
@pytest.mark.integration
@pytest.mark.timeout(400)
def test_the_daemon_waits_for_the_log_folds_it_and_ends_well(
    cluster: Cluster, tmp_path: Path
) -> None:
    lake, log = tmp_path / "lake", tmp_path / "log"
    config = tmp_path / "zklake.toml"
    port = find_free_ports(1)[0]
    topic = Topic(cluster.bootstrap, create=False)
    name = topic.name.removeprefix("zklake.")
    config.write_text(f'[stream]\nhttp = "127.0.0.1:{port}"\ntrigger_ms = 100\n')
    options = ["--log", cluster.bootstrap, "--cluster", name, "--lake", str(lake)]
    command = [sys.executable, "-c", PROGRAM, *options, "--config", str(config)]
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            wait_for(lambda: "does not answer" in fetch(f"{url}/readyz")[1], process, log)
            topic.create()
            topic.write(Story(name).register(1, czxid=10).events)
            sql = "SELECT czxid FROM broker_membership WHERE is_open"
            found = [{"czxid": 10}]
            wait_for(
                lambda: (
                    (lake / name / "broker_membership" / "_delta_log").exists()
                    and reading.read_rows(str(lake), name, sql) == found
                ),
                process,
                log,
            )
            assert fetch(f"{url}/readyz") == (200, "ready\n")
            assert fetch(f"{url}/healthz") == (200, "alive\n")
            wait_for(
                lambda: "zklake_stream_events_total 2.0" in fetch(f"{url}/metrics")[1],
                process,
                log,
            )
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, log.read_text()
        finally:
            process.kill()
