"""Hostile logins: whatever is sent as credentials, only the right ones open the door."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dashboard.accounts import Account
from dashboard.options import Options
from dashboard.proxy import ProxyOptions
from tests.dashboard.conftest import ADDRESS, open_client
from tests.dashboard.story_lake import CLUSTER, write_story
from tests.hostile.login_attempts import ATTEMPTS, NAME, PASSWORD, TOKEN, Login


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, audit: Path) -> TestClient:
    lake = str(tmp_path_factory.mktemp("story"))
    write_story(lake, groups=3)
    options = Options(
        lake,
        CLUSTER,
        accounts=(Account(NAME, "viewer", PASSWORD, TOKEN),),
        proxy=ProxyOptions("X-User", ("10.1.2.3",), "X-Role", "analyst", "the proxy's secret"),
        audit_log=str(audit),
        # The throttle would answer for most of them.
        wrong_logins=0,
    )
    return TestClient(open_client(options).app, base_url=ADDRESS, client=("192.0.2.7", 5))


@pytest.mark.parametrize("login", ATTEMPTS, ids=lambda one: one.title)
def test_it_stays_out(client: TestClient, audit: Path, login: Login) -> None:
    for path in ("/api/groups", "/sql", "/metrics", "/v3/kafka"):
        answer = client.get(path, headers=login.headers)
        assert answer.status_code == 401
        for secret in (PASSWORD, TOKEN, "billing", "Traceback", "proxy's secret"):
            assert secret not in answer.text
    lines = [json.loads(line) for line in audit.read_text().splitlines()] if audit.exists() else []
    assert not [line for line in lines if line["outcome"] == "right"]


def test_the_right_ones_get_in(client: TestClient) -> None:
    text = base64.b64encode(f"{NAME}:{PASSWORD}".encode()).decode()
    for given in (f"Basic {text}", f"bearer {TOKEN}"):
        asked = client.get("/api/groups", headers={"authorization": given})
        assert asked.status_code == 200
        assert client.get("/sql", headers={"authorization": given}).status_code == 403


def test_what_was_typed_is_in_no_audit_log(client: TestClient, audit: Path) -> None:
    text = audit.read_text()
    for secret in (PASSWORD, TOKEN, "c4nary", "' OR", "jndi"):
        assert secret not in text
