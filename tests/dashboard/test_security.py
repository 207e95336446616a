from __future__ import annotations

import base64
from collections.abc import Mapping
from html import unescape

import pytest
from starlette.testclient import TestClient

from dashboard.app import build_app
from dashboard.options import Options
from delta_tables.live.tables import Tables
from tests.dashboard.addresses import ADDRESSES, name_api
from tests.dashboard.conftest import ADDRESS, open_client
from tests.dashboard.story_lake import CLUSTER
from zklake.errors import SettingsError
from zklake.settings.load import load_settings


@pytest.mark.parametrize("address", [*ADDRESSES, *map(name_api, ADDRESSES), "/nothing", "/healthz"])
def test_every_answer_forbids_what_a_page_does_not_need(client: TestClient, address: str) -> None:
    _check_headers(client.get(address).headers)


def _check_headers(headers: Mapping[str, str]) -> None:
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


def test_a_page_that_fails_forbids_the_same(lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tables, "query", lambda *asked: 1 // 0)
    app = build_app(Options(lake, CLUSTER)).asgi
    client = TestClient(app, base_url=ADDRESS, raise_server_exceptions=False)
    for address in ("/groups", "/api/groups"):
        answer = client.get(address)
        assert answer.status_code == 500
        assert "The dashboard's log says why" in unescape(answer.text)
        assert "ZeroDivisionError" not in answer.text
        _check_headers(answer.headers)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 200),
        ("localhost", 200),
        ("[::1]:8080", 200),
        ("192.0.2.7:8080", 200),
        ("lake.shop.example:8080", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example:80", 421),
        ("localhost.evil.example", 421),
        ("", 421),
    ],
)
def test_a_stranger_s_name_for_this_machine_is_refused(lake: str, host: str, status: int) -> None:
    client = open_client(Options(lake, CLUSTER, allowed_hosts=("lake.shop.example",)))
    assert client.get("/healthz", headers={"host": host}).status_code == status
    assert client.get("/api/groups", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "no-cors", 403),
        ("cross-site", "cors", 403),
        ("same-site", "no-cors", 403),
        ("cross-site", "navigate", 200),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ],
)
def test_another_site_may_only_link_here(
    client: TestClient, site: str, mode: str, status: int
) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    assert client.get("/api/sql?query=SELECT+1", headers=headers).status_code == status


def _basic(text: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def test_a_password_or_a_token_is_asked_for_everywhere_but_at_the_pulse(lake: str) -> None:
    options = Options(
        lake, CLUSTER, user="ann", password="pâss:word", token="t0ken", wrong_logins=0
    )
    client = open_client(options)
    for path in ("/", "/api/groups", "/live?page=overview", "/static/style.css", "/nothing"):
        refused = client.get(path)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Basic ")
        assert "pâss" not in refused.text
        assert "t0ken" not in refused.text
    for headers in (_basic("ann:pâss:word"), {"authorization": "Bearer t0ken"}):
        assert client.get("/api/groups", headers=headers).status_code == 200
    wrong = [_basic("ann:"), _basic("ann"), _basic("bob:pâss:word"), {"authorization": "Basic %"}]
    wrong += [{"authorization": f"Bearer {text}"} for text in ("", "t0ke", "t0ken ")]
    for headers in wrong:
        assert client.get("/api/groups", headers=headers).status_code == 401
    for text in ("Basic é", "Basic //8=", "Bearer é"):
        odd = {b"authorization": text.encode("latin-1")}
        assert client.get("/api/groups", headers=odd).status_code == 401
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").text == "ready\n"
    assert "word" not in repr(options)
    assert "t0ken" not in repr(options)


def test_only_a_password_or_a_token_opens_it_to_other_machines() -> None:
    for address in ("0.0.0.0:8080", "[::]:8080", "lake.shop.example:80"):
        with pytest.raises(SettingsError, match="needs a password or a token"):
            load_settings(flags={"dashboard.http": address}, environ={})
        environ = {"ZKLAKE_DASHBOARD__TOKEN": "t0ken" * 3}
        load_settings(flags={"dashboard.http": address}, environ=environ)
    for address in ("127.0.0.1:0", "localhost:8080", "[::1]:8080"):
        load_settings(flags={"dashboard.http": address}, environ={})


def test_nothing_but_our_files_is_served(client: TestClient) -> None:
    assert client.get("/static/style.css").status_code == 200
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"):
        assert client.get(path).status_code == 404
    assert client.post("/sql", content="query=SELECT 1").status_code == 405
