"""`zklake status`: real health servers, a real lake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge
from typer.testing import CliRunner, Result

from lab.ports import find_free_ports
from tests.delta_tables.small_lake import Rows, write_lake
from zklake.cli.main import app
from zklake.health import serve_health
from zklake.supervision.run_directory import ADDRESSES, RunDirectory


def ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


def read_clock_ms() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


def make_lake(path: Path, *, age_s: float = 0.0, **others: Rows) -> str:
    """A lake of one event, made so long ago; `others` are rows by table."""
    at_ms = read_clock_ms() - int(age_s * 1000)
    events: Rows = [{"seq": 7, "log_id": "log", "observed_at_ms": at_ms}]
    write_lake(str(path), "kafka", {"znode_events": events, **others})
    return str(path)


@contextmanager
def serve_parts(said: str | None = None, seq: int = 7, wrong: int = 0) -> Iterator[dict[str, str]]:
    """Watcher, stream, dashboard and auditor; the stream has something to say."""
    with ExitStack() as stack:
        found = {}
        names = ("watcher", "stream", "dashboard", "audit")
        for name, port in zip(names, find_free_ports(4), strict=True):
            registry = CollectorRegistry()
            Gauge("zklake_watcher_committed_seq", "last seq", registry=registry).set(seq)
            for verdict in ("unexplained", "phantom"):
                found_wrong = Gauge(f"zklake_audit_{verdict}", "", ["table"], registry=registry)
                found_wrong.labels("topics").set(wrong)
                found_wrong.labels("controller").set(0)
            obstacle = partial(str, said) if said and name == "stream" else lambda: None
            served = serve_health(f"127.0.0.1:{port}", registry, obstacle)
            found[f"ZKLAKE_{name.upper()}__HTTP"] = stack.enter_context(served)
        yield found


def ask(lake: str, environment: dict[str, str], *args: str) -> Result:
    command = ["status", "--lake", lake, "--cluster", "kafka", *args]
    return CliRunner().invoke(app, command, env=environment, catch_exceptions=False)


def check(lake: str, environment: dict[str, str]) -> tuple[int, dict[str, dict[str, Any]]]:
    found = ask(lake, environment, "--json")
    said = json.loads(found.stdout)
    assert said["is_healthy"] is (found.exit_code == 0)
    return found.exit_code, {one["check"]: one for one in said["checks"]}


def test_all_is_well(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    with serve_parts() as environment:
        code, checks = check(lake, environment)
        text = ask(lake, environment)
    assert code == 0
    assert list(checks)[:4] == ["watcher", "stream", "dashboard", "lake"]
    assert {one["state"] for name, one in checks.items() if name != "lag"} == {"ok"}
    assert checks["watcher"]["found"] == f"http://{environment['ZKLAKE_WATCHER__HTTP']} ready"
    assert "to be folded" not in checks["lake"]["found"]
    assert checks["history"]["found"] == "no gap in the last 24 h"
    assert checks["audit"]["found"].endswith(" ready: 0 unexplained, 0 phantom")
    assert text.stdout.startswith("kafka at ")
    assert text.stdout.splitlines()[0].endswith(": healthy")


def test_what_cannot_be_reached_or_is_not_ready_is_said_with_what_to_do(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    with serve_parts("the log's Kafka does not answer") as environment:
        environment["ZKLAKE_WATCHER__HTTP"] = f"127.0.0.1:{find_free_ports(1)[0]}"
        code, checks = check(lake, environment)
    assert code == 1
    assert "cannot be reached: " in checks["watcher"]["found"]
    assert "start it: zklake watch" in checks["watcher"]["fix"]
    assert checks["stream"]["found"].endswith("is not ready: the log's Kafka does not answer")
    assert checks["dashboard"]["state"] == "ok"


def test_contradictions_and_an_auditor_that_is_not_there(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    with serve_parts(wrong=2) as environment:
        code, checks = check(lake, environment)
        assert (code, checks["audit"]["state"]) == (1, "fail")
        assert checks["audit"]["found"].endswith(" ready: 2 unexplained, 2 phantom")
        environment["ZKLAKE_AUDIT__HTTP"] = f"127.0.0.1:{find_free_ports(1)[0]}"
        code, checks = check(lake, environment)
    assert (code, checks["audit"]["state"]) == (0, "warn")


def test_a_stale_lake_and_its_distance_from_the_log(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, age_s=3600)
    with serve_parts(seq=49) as environment:
        code, checks = check(lake, environment)
    assert code == 1
    assert checks["lake"]["state"] == "fail"
    assert "42 records of the log to be folded" in checks["lake"]["found"]
    assert checks["lake"]["fix"].startswith("the stream is behind")


def test_gaps_and_quarantine(tmp_path: Path) -> None:
    ended = {
        "reason": "session_lost",
        "valid_from_at": ago(minutes=9),
        "valid_to_at": ago(minutes=8),
    }
    first = {"reason": "first_start", "valid_to_at": ago(minutes=30)}
    aside = {"kafka_offset": 3, "reason": "not_json", "ingested_at": ago(minutes=1)}
    lake = make_lake(tmp_path / "a", log_gaps=[first, ended], quarantine=[aside])
    still = {"reason": "session_lost", "path": "/x\x1b[31m", "valid_from_at": ago(minutes=5)}
    blind = make_lake(tmp_path / "b", log_gaps=[still])
    with serve_parts() as environment:
        code, checks = check(lake, environment)
        assert code == 0
        assert checks["history"]["found"].startswith("1 gap in the last 24 h, 1 min in all; the ")
        assert checks["quarantine"]["state"] == "warn"
        assert checks["quarantine"]["found"].startswith("1 record set aside in the last 24 h")
        shown = ask(blind, environment)
    assert shown.exit_code == 1
    assert "changes may pass unseen since" in shown.stdout
    assert "/x\\x1b[31m" in shown.stdout
    assert "\x1b[31m/" not in shown.stdout


def test_no_lake_at_all(tmp_path: Path) -> None:
    with serve_parts() as environment:
        code, checks = check(str(tmp_path), environment)
    assert (code, checks["lake"]["state"]) == (1, "fail")
    assert "has no data" in checks["lake"]["found"]
    assert list(tmp_path.iterdir()) == []


def test_the_parts_of_a_run_are_found_by_its_lake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with RunDirectory(tmp_path / ".zklake/run") as place, serve_parts() as found:
        parts = {
            "watch": "WATCHER",
            "stream": "STREAM",
            "dashboard": "DASHBOARD",
            "audit": "AUDIT",
        }
        addresses = {part: found[f"ZKLAKE_{name}__HTTP"] for part, name in parts.items()}
        place.remember(ADDRESSES, {**addresses, "has_tls": False})
        events: Rows = [{"seq": 7, "log_id": "l", "observed_at_ms": read_clock_ms()}]
        write_lake(str(place.path / "lake"), "lab", {"znode_events": events})
        shown = CliRunner().invoke(app, ["status"], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    assert "lake: .zklake/run/lake, of `make run`" in shown.stderr
    assert all(f"http://{address} ready" in shown.stdout for address in addresses.values())
