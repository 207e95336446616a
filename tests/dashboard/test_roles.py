"""Viewers see every page and ask no SQL; analysts do; the audit log says who was who."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dashboard.accounts import Account
from dashboard.options import Options
from dashboard.pages import PAGES
from tests.dashboard.addresses import ADDRESSES, name_api, write_address
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER
from zklake.cli.dashboard import choose_options
from zklake.errors import SettingsError
from zklake.settings.load import load_settings, load_with_origins
from zklake.settings.show import show_settings, write_value

ACCOUNTS = (
    Account("bob", "viewer", "bob's password", "bob's token"),
    Account("ann", "analyst", "ann's password", "ann's token"),
)
QUERY = write_address("/api/sql", query="SELECT 7 AS x")


def basic(name: str, password: str) -> dict[str, str]:
    text = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"authorization": f"Basic {text}"}


VIEWERS = [basic("bob", "bob's password"), {"authorization": "Bearer bob's token"}]
ANALYSTS = [
    basic("ann", "ann's password"),
    {"authorization": "Bearer ann's token"},
    basic("zk", "shared password"),
    {"authorization": "Bearer shared token"},
]


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture
def guarded(lake: str, audit: Path) -> TestClient:
    return open_client(
        Options(
            lake,
            CLUSTER,
            user="zk",
            password="shared password",
            token="shared token",
            accounts=ACCOUNTS,
            audit_log=str(audit),
        )
    )


def test_a_viewer_sees_every_page_but_sql(guarded: TestClient) -> None:
    for headers in VIEWERS:
        for address, text in ADDRESSES.items():
            is_sql = address.startswith("/sql")
            for one in (address, name_api(address)):
                answer = guarded.get(one, headers=headers)
                assert answer.status_code == (403 if is_sql else 200), one
                if is_sql:
                    assert "SQL is for the role analyst" in answer.text
                    assert text not in answer.text
            if not is_sql:
                assert 'href="/sql' not in guarded.get(address, headers=headers).text
        assert guarded.get("/metrics", headers=headers).status_code == 200


def test_not_even_the_list_of_examples_is_for_viewers(guarded: TestClient) -> None:
    answer = guarded.get("/api/sql", headers=VIEWERS[0])
    assert answer.json() == {
        "error": "SQL is for the role analyst, and you are logged in as viewer."
    }
    assert answer.status_code == 403


@pytest.mark.parametrize("headers", ANALYSTS, ids=str)
def test_an_analyst_asks_sql(guarded: TestClient, headers: dict[str, str]) -> None:
    assert guarded.get(QUERY, headers=headers).json()["rows"] == [[7]]
    assert 'href="/sql' in guarded.get("/groups", headers=headers).text


def test_where_nobody_logs_in_everybody_is_an_analyst(client: TestClient) -> None:
    assert client.get(QUERY).json()["rows"] == [[7]]


def test_sql_that_is_switched_off_is_off_for_analysts(lake: str) -> None:
    client = open_client(Options(lake, CLUSTER, accounts=ACCOUNTS, sql=False))
    refused = client.get(QUERY, headers=ANALYSTS[0])
    assert (refused.status_code, "dashboard.sql" in refused.text) == (403, True)


def test_credentials_are_of_one_account(guarded: TestClient) -> None:
    wrong = [
        basic("bob", "ann's password"),
        basic("ann", "shared password"),
        basic("ann", "ann's token"),
        {"authorization": "Bearer ann's password"},
        {"authorization": "Bearer ann"},
        basic("", ""),
    ]
    for headers in wrong:
        assert guarded.get("/api/groups", headers=headers).status_code == 401


def test_the_audit_log_names_user_and_role(guarded: TestClient, audit: Path) -> None:
    for headers in (*VIEWERS, *ANALYSTS):
        guarded.get(QUERY, headers=headers)
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    seen = [[one[name] for name in ("event", "who", "role", "outcome")] for one in lines]
    wanted = [
        ("user bob", "viewer", "refused"),
        ("token bob", "viewer", "refused"),
        ("user ann", "analyst", "answered"),
        ("token ann", "analyst", "answered"),
        ("user zk", "analyst", "answered"),
        ("token", "analyst", "answered"),
    ]
    assert seen == [
        line
        for who, role, outcome in wanted
        for line in (["login", who, role, "right"], ["query", who, role, outcome])
    ]
    for secret in ("password'", "'s token", "shared token"):
        assert secret not in audit.read_text()


def test_only_sql_wants_more_than_a_viewer() -> None:
    assert [page.name for page in PAGES if page.role != "viewer"] == ["sql"]


FILE = """
[dashboard]
http = "0.0.0.0:8080"
[[dashboard.accounts]]
name = "bob"
password = "file:{secret}"
[[dashboard.accounts]]
name = "ci"
role = "analyst"
token = "s3cret-s3cret"
"""


def test_accounts_come_from_the_settings(tmp_path: Path) -> None:
    (tmp_path / "bob").write_text("s3cret of bob\n")
    path = tmp_path / "zklake.toml"
    path.write_text(FILE.format(secret=tmp_path / "bob"))
    loaded = load_with_origins(path, environ={})
    options = choose_options(loaded.settings)
    assert options.all_accounts == (
        Account("bob", "viewer", "s3cret of bob", None),
        Account("ci", "analyst", None, "s3cret-s3cret"),
    )
    (shown,) = [row for row in show_settings(loaded) if row.key == "dashboard.accounts"]
    assert '"role": "analyst"' in write_value(shown.value)
    for text in (write_value(shown.value), repr(options), repr(loaded.settings)):
        assert "s3cret" not in text


@pytest.mark.parametrize(
    ("accounts", "wanted"),
    [
        ([{"name": "bob"}], "bob needs a password or a token"),
        ([{"name": "bob", "password": "s3cret"}], "use 12 characters"),
        ([{"name": "bob", "password": "file:/nowhere"}], "cannot read the file"),
        ([{"name": "b:b", "password": "s3cret-s3cret"}], "accounts.0.name"),
        ([{"name": "bob", "password": "s3cret-s3cret", "role": "admin"}], "accounts.0.role"),
        ([{"name": "zklake", "password": "s3cret-s3cret"}], "zklake is there twice"),
        ([{"name": name, "token": "s3cret-s3cret"} for name in "ab"], "the same token"),
    ],
)
def test_accounts_that_are_none_are_refused(accounts: list[dict[str, str]], wanted: str) -> None:
    with pytest.raises(SettingsError, match=wanted) as refused:
        load_settings(environ={"ZKLAKE_DASHBOARD__ACCOUNTS": json.dumps(accounts)})
    assert "s3cret" not in str(refused.value)
