"""Logins are held back and told, queries and exports are told; no secret is in what is told."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from dashboard.options import Options
from dashboard.query_shape import write_shape
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER
from zklake.errors import SettingsError
from zklake.settings.load import load_settings

PASSWORD, TOKEN, TYPED = "c4nary-password", "c4nary-token-1234", "c4nary-typed"


def basic(text: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


class Watched:
    """A dashboard whose audit log is read."""

    def __init__(self, lake: str, path: Path, **options: Any) -> None:
        self.path = path
        self.client: TestClient = open_client(
            Options(
                lake,
                CLUSTER,
                user="ann",
                password=PASSWORD,
                token=TOKEN,
                audit_log=str(path),
                **options,
            )
        )

    def read(self, *names: str) -> list[list[object]]:
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        return [[line[name] for name in names] for line in lines]


@pytest.fixture
def watched(lake: str, tmp_path: Path) -> Watched:
    return Watched(lake, tmp_path / "audit.jsonl")


def test_wrong_logins_are_held_back_and_told_without_what_was_typed(watched: Watched) -> None:
    with capture_logs() as logs:
        for headers in [basic(f"{TYPED}:{TYPED}"), bearer(TYPED)] * 5:
            assert watched.client.get("/api/groups", headers=headers).status_code == 401
        held = watched.client.get("/api/groups", headers=basic(f"ann:{PASSWORD}"))
        assert held.status_code == 429
        assert int(held.headers["retry-after"]) > 0
        assert "wait" in held.json()["error"]
    # Who gives no credentials is asked for them, and health is told.
    assert watched.client.get("/").status_code == 401
    assert watched.client.get("/healthz").status_code == 200
    told = [one for one in logs if one["event"] == "a wrong login"]
    assert [one["by"] for one in told] == ["password", "token"] * 5
    assert [one["is_held_back"] for one in told] == [False] * 9 + [True]
    assert watched.read("event", "who", "from", "outcome") == [
        *[["login", None, "testclient", "wrong"]] * 9,
        ["login", None, "testclient", "wrong, and held back"],
    ]
    for text in (str(logs), watched.path.read_text()):
        assert "c4nary" not in text
        assert base64.b64encode(TYPED.encode()).decode()[:12] not in text


def test_logins_queries_and_exports_are_told(watched: Watched) -> None:
    query = f"SELECT topic FROM topics WHERE topic = '{TYPED}' LIMIT 3"
    wrong = f"SELECT {TYPED.replace('-', '_')} FROM topics -- {TYPED}"
    asked = [
        ("/api/groups", {}, bearer(TOKEN)),
        ("/groups", {}, bearer(TOKEN)),
        ("/api/sql", {"query": query}, basic(f"ann:{PASSWORD}")),
        ("/sql", {"query": wrong}, basic(f"ann:{PASSWORD}")),
        ("/sql", {}, basic(f"ann:{PASSWORD}")),
        ("/api/groups", {"nonsense": TYPED}, bearer(TOKEN)),
    ]
    for path, params, headers in asked:
        watched.client.get(path, params=params, headers=headers)
    shape = "SELECT topic FROM topics WHERE topic = ? LIMIT ?"
    assert {role for (role,) in watched.read("role")} == {"analyst"}
    assert watched.read("event", "who", "what", "outcome") == [
        ["login", "token", "token", "right"],
        ["export", "token", "/api/groups", "answered"],
        ["login", "user ann", "password", "right"],
        ["query", "user ann", shape, "answered"],
        ["query", "user ann", "SELECT ? FROM topics", "refused"],
        ["export", "token", "/api/groups", "refused"],
    ]
    assert all(str(at).endswith("Z") for (at,) in watched.read("at"))
    assert "c4nary" not in watched.path.read_text()
    assert stat.S_IMODE(watched.path.stat().st_mode) == 0o600


def test_the_audit_log_may_be_moved_away(watched: Watched, tmp_path: Path) -> None:
    watched.client.get("/api/groups", headers=bearer(TOKEN))
    watched.path.rename(tmp_path / "audit.jsonl.1")
    watched.client.get("/api/topics", headers=bearer(TOKEN))
    assert watched.read("what") == [["/api/topics"]]


def test_an_audit_log_that_cannot_be_written_is_an_error_at_the_start(
    lake: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"dashboard\.audit_log: cannot write .*nowhere"):
        Watched(lake, tmp_path / "nowhere" / "audit.jsonl")


def test_one_that_can_no_longer_be_written_stops_nobody(lake: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    watched = Watched(lake, tmp_path / "logs" / "audit.jsonl")
    watched.path.unlink()
    watched.path.parent.rmdir()
    with capture_logs() as logs:
        assert watched.client.get("/api/groups", headers=bearer(TOKEN)).status_code == 200
    assert logs[0]["event"] == "the audit log cannot be written"


@pytest.mark.parametrize("name", ["password", "token"])
def test_a_short_secret_is_refused_and_never_shown(name: str) -> None:
    wanted = rf"dashboard\.{name} = .*: use 12 characters or more: .*openssl rand"
    with pytest.raises(SettingsError, match=wanted) as refused:
        load_settings(environ={f"ZKLAKE_DASHBOARD__{name.upper()}": "hunter2"})
    assert "hunter2" not in str(refused.value)
    load_settings(environ={f"ZKLAKE_DASHBOARD__{name.upper()}": "123456789012"})


def test_sql_can_be_switched_off(lake: str, tmp_path: Path) -> None:
    watched = Watched(lake, tmp_path / "audit.jsonl", sql=False)
    for path in ("/sql", "/api/sql", "/sql?query=SELECT+1", "/api/sql?query=SELECT+1"):
        answer = watched.client.get(path, headers=bearer(TOKEN))
        assert answer.status_code == 403
        assert "dashboard.sql" in answer.text
    assert ["query", "SELECT ?", "refused"] in watched.read("event", "what", "outcome")
    page = watched.client.get("/groups", headers=bearer(TOKEN)).text
    assert 'href="/groups' in page
    assert 'href="/sql' not in page
    environ = {"ZKLAKE_DASHBOARD__SQL": "off"}
    assert load_settings(environ=environ).dashboard.sql is False


@pytest.mark.parametrize(
    ("query", "shape"),
    [
        ("SELECT count(*) FROM topics", "SELECT count(*) FROM topics"),
        ("SELECT 'a''b', $$c$$, $x$ d $x$, 5e3", "SELECT ?, ?, ?, ?"),
        ("SELECT 'never closed", "SELECT ?"),
        ("SELECT /* secret */ 1 -- secret", "SELECT   ?"),
        ('SELECT "topic", "secret", `secret` FROM secret', 'SELECT "topic", ?, ? FROM ?'),
        ("SELECT E'it\\'s secret'", "SELECT ??? ??"),
    ],
)
def test_of_a_query_its_shape_is_told(query: str, shape: str) -> None:
    assert write_shape(query) == shape


@given(st.text(max_size=60), st.sampled_from(["'", '"', "", "--", "/*", "$$", "`", "\\", "\n"]))
def test_no_unknown_word_is_in_a_shape(around: str, mark: str) -> None:
    assert "c4nary" not in write_shape(f"{around}{mark}c4nary{mark}{around}")
