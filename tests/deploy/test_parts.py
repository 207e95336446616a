"""Parts are started as a deployment starts them: with its words and its environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import pytest
import yaml

from lab.ports import find_free_ports
from tests.dashboard.story_lake import CLUSTER
from tests.deploy.commands import COMPOSE, Part, list_parts, parse
from tests.deploy.exported import DEPLOY
from tests.deploy.test_commands import place_files
from tests.watcher.watching import wait_for
from zklake.settings.load import load_settings

ROOT = Path(__file__).parents[2]
PARTS = list_parts()
# Nobody listens there.
NOWHERE = "127.0.0.1:1"
HERE = "127.0.0.1:0"


def by_command(*argv: str) -> pytest.MarkDecorator:
    parts = [part for part in PARTS if part.argv == list(argv)]
    return pytest.mark.parametrize("part", parts, ids=lambda part: part.where)


def build_environment(part: Part, directory: Path, changed: dict[str, str]) -> dict[str, str]:
    """The part's own, but for places and addresses that are not on this machine."""
    placed = place_files(dict(part.environ), directory)
    places = {
        "ZKLAKE_WATCHER__HASH_KEY_FILE": str(directory / "secret"),
        "ZKLAKE_ALERTS__JOURNAL": str(directory / "alerts.sqlite"),
    }
    placed |= {name: place for name, place in places.items() if name in placed}
    plain = {name: text for name, text in os.environ.items() if not name.startswith("ZKLAKE_")}
    return {**plain, **placed, "XDG_STATE_HOME": str(directory), **changed}


@contextmanager
def start(argv: list[str], environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command, pipe = [sys.executable, "-m", "zklake", *argv], subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=environ)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def get(address: str, token: str = "") -> tuple[int, str]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        asked = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


@by_command("dashboard")
def test_the_dashboard_answers(part: Part, lake: str, tmp_path: Path) -> None:
    changed = {
        "ZKLAKE_LAKE": lake,
        "ZKLAKE_CLUSTER": CLUSTER,
        "ZKLAKE_DASHBOARD__HTTP": HERE,
        "ZKLAKE_DASHBOARD__WATCHER_HTTP": NOWHERE,
        "ZKLAKE_DASHBOARD__STREAM_HTTP": NOWHERE,
    }
    with start(part.argv, build_environment(part, tmp_path, changed)) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip().rstrip("/")
        assert get(f"{address}/healthz") == (200, "alive\n")
        assert is_healthy("dashboard", address)
        assert get(f"{address}/metrics")[0] == 401
        status, text = get(f"{address}/metrics", (tmp_path / "secret").read_text().strip())
        assert status == 200
        assert f'zklake_lake_stale{{cluster="{CLUSTER}"}}' in text
    assert not is_healthy("dashboard", address)


@by_command("watch")
def test_the_watcher_answers_before_it_reaches_anything(part: Part, tmp_path: Path) -> None:
    changed = {
        "ZKLAKE_ZOOKEEPER": NOWHERE,
        "ZKLAKE_LOG": NOWHERE,
        "ZKLAKE_WATCHER__HTTP": HERE,
    }
    with start(part.argv, build_environment(part, tmp_path, changed)) as process:
        assert process.stderr is not None
        said = re.search(r"127\.0\.0\.1:\d{2,}", process.stderr.readline())
        assert said
        address = f"http://{said[0]}"
        assert get(f"{address}/healthz") == (200, "alive\n")
        assert get(f"{address}/readyz")[0] == 503
        assert "zklake_watcher_in_sync 0.0" in get(f"{address}/metrics")[1]
        assert not is_healthy("watcher", address)


@by_command("alerts", "run")
def test_alerts_look_at_the_lake(part: Part, lake: str, tmp_path: Path) -> None:
    told = '[{"by": "command", "argv": ["true"]}]'
    changed = {"ZKLAKE_LAKE": lake, "ZKLAKE_CLUSTER": CLUSTER, "ZKLAKE_ALERTS__NOTIFIERS": told}
    with start([*part.argv, "--once"], build_environment(part, tmp_path, changed)) as process:
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0, said
    assert (tmp_path / "alerts.sqlite").exists()


@by_command("alerts", "run")
def test_the_notifier_answers(part: Part, lake: str, tmp_path: Path) -> None:
    http = f"127.0.0.1:{find_free_ports(1)[0]}"
    changed = {
        "ZKLAKE_LAKE": lake,
        "ZKLAKE_CLUSTER": CLUSTER,
        "ZKLAKE_ALERTS__NOTIFIERS": '[{"by": "command", "argv": ["true"]}]',
        "ZKLAKE_ALERTS__HTTP": http,
    }
    with start(part.argv, build_environment(part, tmp_path, changed)):
        wait_for("its first look", lambda: is_healthy("alerts", f"http://{http}"))
        text = get(f"http://{http}/metrics")[1]
        assert "zklake_alerts_given_up_messages_total 0.0" in text
    assert not is_healthy("alerts", f"http://{http}")


@by_command("audit", "--follow")
def test_the_auditor_answers_before_it_reaches_anything(
    part: Part, lake: str, tmp_path: Path
) -> None:
    http = f"127.0.0.1:{find_free_ports(1)[0]}"
    changed = {
        "ZKLAKE_ZOOKEEPER": NOWHERE,
        "ZKLAKE_LOG": NOWHERE,
        "ZKLAKE_LAKE": lake,
        "ZKLAKE_CLUSTER": CLUSTER,
        "ZKLAKE_AUDIT__HTTP": http,
    }
    with start(part.argv, build_environment(part, tmp_path, changed)):
        wait_for("its address", lambda: is_healthy("audit", f"http://{http}"))
        failures = f'zklake_audit_failures_total{{cluster="{CLUSTER}"}}'
        wait_for("its try", lambda: f"{failures} 1.0" in get(f"http://{http}/metrics")[1])
    assert not is_healthy("audit", f"http://{http}")


@pytest.mark.parametrize("kind", ["compose", "kubernetes", "systemd"])
def test_every_part_can_be_asked_how_it_is_doing(kind: str, tmp_path: Path) -> None:
    """At the ports of Prometheus' jobs; the dashboard knows watcher and stream."""
    settings = {
        parse(part.argv): load_settings(environ=place_files(dict(part.environ), tmp_path))
        for part in PARTS
        if part.where.startswith(kind)
    }
    dashboard = settings["dashboard"].dashboard
    heard = {
        "watcher": settings["watch"].watcher.http,
        "stream": settings["stream"].stream.http,
        "alerts": settings["alerts run"].alerts.http,
        "audit": settings["audit"].audit.http,
        "dashboard": dashboard.http,
    }
    ports = {name: str(address).rpartition(":")[2] for name, address in heard.items()}
    asked = {"watcher": dashboard.watcher_http, "stream": dashboard.stream_http}
    for name, address in asked.items():
        assert str(address).rpartition(":")[2] == ports[name]
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    targets = [job["static_configs"][0]["targets"] for job in config["scrape_configs"]]
    assert {one: f"{one}:{port}" for one, port in ports.items()} == {
        target.partition(":")[0]: target for (target,) in targets
    }


def is_healthy(service: str, address: str) -> bool:
    """What compose's healthcheck says, asked at this address."""
    _, program, *words = COMPOSE["services"][service]["healthcheck"]["test"]
    assert program == "python"
    words = [re.sub(r"http://127\.0\.0\.1:\d+", address, word) for word in words]
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", [n for n, s in COMPOSE["services"].items() if "healthcheck" in s])
def test_healthchecks_ask_where_the_part_answers(name: str) -> None:
    service = COMPOSE["services"][name]
    asked = re.search(r"http://127\.0\.0\.1(:\d+)/", service["healthcheck"]["test"][-1])
    told = [
        text
        for key, text in service["environment"].items()
        if key.endswith(f"{name.upper()}__HTTP")
    ]
    assert asked
    assert told == [f"0.0.0.0{asked[1]}"]
