"""What the auditor found, on Data quality: asked of a real one's health address."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from auditor.metrics import AuditMetrics
from auditor.report import AuditFinding, AuditReport
from dashboard.audited import AuditedTable, ask_auditor
from dashboard.options import Options
from lab.ports import find_free_ports
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER
from zklake.health import serve_health
from zklake.probes import HttpAnswer, ProbeServer, ProbeTimeouts


@pytest.fixture
def metrics() -> AuditMetrics:
    return AuditMetrics()


@pytest.fixture
def address(metrics: AuditMetrics) -> Iterator[str]:
    with serve_health("127.0.0.1:0", metrics.registry, lambda: None) as address:
        yield address


def open_quality(lake: str, address: str | None) -> TestClient:
    return open_client(Options(lake, CLUSTER, audit_http=address))


def test_findings_are_counted_by_table(lake: str, metrics: AuditMetrics, address: str) -> None:
    report = AuditReport(CLUSTER, znodes=1200, records=34_000, undecided=3)
    report.findings += [AuditFinding("phantom", "topics", "one", {})] * 2
    report.findings += [AuditFinding("unexplained", "topics", "two", {})]
    metrics.note(report)
    metrics.failures.labels(CLUSTER).inc(4)
    client = open_quality(lake, address)
    found = client.get("/api/quality").json()["audit"]
    assert (found["is_up"], found["znodes"], found["records"]) == (True, 1200, 34_000)
    assert (found["undecided"], found["failures"]) == (3, 4)
    first, *others = found["tables"]
    assert first == {"table": "topics", "unexplained": 1, "phantom": 2}
    assert all((row["unexplained"], row["phantom"]) == (0, 0) for row in others)
    page = client.get("/quality").text
    assert "1,200 znodes and 34,000 records" in page
    assert '<span class="status stopped">2</span>' in page


def test_another_cluster_s_findings_are_not_ours(metrics: AuditMetrics, address: str) -> None:
    metrics.note(AuditReport("other", znodes=7))
    assert ask_auditor(address, CLUSTER).tables == ()
    assert AuditedTable("topics", 0, 0) in ask_auditor(address, "other").tables


def test_before_the_first_round(lake: str, address: str) -> None:
    assert "No round has ended yet." in open_quality(lake, address).get("/quality").text


def test_nobody_answers(lake: str) -> None:
    address = f"127.0.0.1:{find_free_ports(1)[0]}"
    client = open_quality(lake, address)
    assert client.get("/api/quality").json()["audit"]["is_up"] is False
    assert f"The auditor does not answer at {address}." in client.get("/quality").text


@pytest.mark.parametrize("said", ["<html>", "zklake_audit_znodes{cluster=", "\0\1", "x" * 100])
def test_somebody_else_answers(said: str, lake: str) -> None:
    taken = socket.create_server(("127.0.0.1", 0))
    server = ProbeServer(taken, lambda path: HttpAnswer(200, said), ProbeTimeouts())
    server.start()
    try:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert open_quality(lake, address).get("/quality").status_code == 200
    finally:
        server.stop()


def test_nobody_is_asked_who_was_not_named(lake: str) -> None:
    client = open_quality(lake, None)
    assert client.get("/api/quality").json()["audit"] is None
    assert "<h2>Audit</h2>" not in client.get("/quality").text
