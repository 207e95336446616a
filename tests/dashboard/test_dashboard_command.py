from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from dashboard.server import listen
from tests.dashboard.story_lake import CLUSTER
from zklake.cli.dashboard import choose_options
from zklake.errors import SettingsError
from zklake.settings.load import load_settings

ROOT = Path(__file__).parents[2]
_COMMAND = "import typer; from zklake.cli.dashboard import dashboard; typer.run(dashboard)"


@contextmanager
def run(*options: str, stderr: int | IO[str] = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    environ = {name: text for name, text in os.environ.items() if not name.startswith("ZKLAKE_")}
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, *options],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=ROOT,
        env=environ,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_it_serves_at_the_address_it_prints_until_it_is_told_to_stop(lake: str) -> None:
    with run("--lake", lake, "--cluster", CLUSTER, "--http", "127.0.0.1:0") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}api/groups", timeout=30) as answer:
            assert b"billing" in answer.read()
        # A page that listens for news does not keep it.
        with urllib.request.urlopen(f"{address}live?page=groups", timeout=30) as stream:
            stream.readline()
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0


def test_a_port_that_is_taken_is_said_and_no_restart_mends_it() -> None:
    with listen("127.0.0.1:0") as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SettingsError, match=f"cannot listen at {address}: .*choose another"):
            listen(address)


def test_settings_become_options() -> None:
    environ = {
        "ZKLAKE_DASHBOARD__PASSWORD": "s3cret-s3cret",
        "ZKLAKE_DASHBOARD__ALLOWED_HOSTS": "a.example,b.example",
        "ZKLAKE_QUERY__MAX_ROWS": "20",
    }
    flags = {"dashboard.watcher_http": "127.0.0.1:9464"}
    options = choose_options(load_settings(flags=flags, environ=environ))
    assert (options.user, options.password, options.token) == ("zklake", "s3cret-s3cret", None)
    assert options.allowed_hosts == ("a.example", "b.example")
    assert options.watcher_http == "127.0.0.1:9464"
    assert options.limits.max_rows == 20
    assert "s3cret" not in repr(options)
