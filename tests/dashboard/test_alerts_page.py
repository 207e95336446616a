"""The page Alerts: the same incidents as `zklake alerts test` finds, and what the journal says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from alerts.daemon import run_once
from dashboard.options import Options
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER
from zklake.cli.main import app as zklake
from zklake.settings.alert_notifiers import Command
from zklake.settings.alert_rules import RULES, ControllerFlap, GroupStatus
from zklake.settings.alerts import AlertsSettings

NOTIFIER = Command(argv=("true",))


def fetch(client: TestClient, address: str = "/api/alerts?last=24h") -> dict[str, Any]:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_rules_find_what_the_command_line_finds(client: TestClient, lake: str) -> None:
    page = fetch(client)
    assert [rule["name"] for rule in page["rules"]] == [rule().title for rule in RULES]
    for name in ("rebalance_storm", "broker_down", "time_lag", "group_status"):
        asked = ["alerts", "test", name, "--since", "1d", "--json"]
        told = CliRunner().invoke(zklake, [*asked, "--lake", lake, "--cluster", CLUSTER])
        assert told.exit_code == 0, told.output
        wanted = {one["id"] for one in json.loads(told.stdout)["incidents"]}
        found = {one["id"] for one in [*page["open"], *page["past"]] if one["rule"] == name}
        assert found == wanted != set()


def test_a_past_incident_links_to_its_subject_and_its_moment(client: TestClient) -> None:
    text = client.get("/alerts?last=24h").text
    assert "Nobody is notified" in text
    assert 'href="/broker?broker_id=2&amp;last=24h"' in text
    assert 'href="/group?group_id=team-003&amp;coordinator=zookeeper&amp;last=24h"' in text


def test_the_journal_says_whom_it_was_sent_to(lake: str, tmp_path: Path) -> None:
    path = str(tmp_path / "alerts.sqlite")
    settings = AlertsSettings(
        journal=path, rules=(GroupStatus(level="STOPPED", for_s=0),), notifiers=(NOTIFIER,)
    )
    run_once(lake, CLUSTER, settings)
    options = Options(lake, CLUSTER, alert_rules=settings.list_rules(), alerts_journal=path)
    client = open_client(options)
    page = fetch(client)
    assert page["journal"]["is_there"]
    assert page["journal"]["trouble"] is None
    (stopped,) = page["open"]
    assert stopped["evidence"]["status"] == "STOPPED"
    assert stopped["sent"] == {"command": "sent"}
    assert "command: sent" in client.get("/alerts").text


def test_what_only_the_journal_knows_is_shown(lake: str, tmp_path: Path) -> None:
    path = str(tmp_path / "alerts.sqlite")
    # A rule that is taken out of the settings: its incidents are over, and still known.
    for rule in (GroupStatus(for_s=0), ControllerFlap()):
        settings = AlertsSettings(journal=path, rules=(rule,), notifiers=(NOTIFIER,))
        run_once(lake, CLUSTER, settings)
    client = open_client(Options(lake, CLUSTER, alert_rules=(), alerts_journal=path))
    page = fetch(client)
    assert {one["rule"] for one in page["past"]} == {"group_status"}
    assert page["open"] == page["rules"] == []
    assert "No rule is set" in client.get("/alerts").text


@pytest.mark.parametrize("text", [b"not a database", b"SQLite format 3\0" + b"x" * 4000])
def test_a_broken_journal_is_said_and_hides_nothing(lake: str, tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "alerts.sqlite"
    path.write_bytes(text)
    page = fetch(open_client(Options(lake, CLUSTER, alerts_journal=str(path))))
    assert "cannot be used" in page["journal"]["trouble"]
    assert page["past"]
