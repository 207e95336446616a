"""Pages that ask the sandbox: no query is read here, and who leaves takes nobody along."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from dashboard.options import Options
from dashboard.pages import why
from delta_tables.asking import querying
from tests.dashboard.addresses import write_address
from tests.dashboard.conftest import open_client
from tests.dashboard.story_lake import CLUSTER
from zklake.errors import QueryCancelled


def test_the_dashboard_itself_reads_no_query(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*asked: object) -> None:
        raise AssertionError("parsed in the dashboard's own process")

    for name in ("check_query", "check_condition", "_parse", "_tokenize"):
        monkeypatch.setattr(querying, name, refuse)
    for name in ("parse", "tokenize"):
        monkeypatch.setattr(querying._DIALECT, name, refuse)
    answer = client.get(write_address("/api/sql", query="SELECT count(*) AS n FROM topics"))
    assert answer.json()["rows"] == [[3]]
    assert client.get(write_address("/api/sql", query="SELECT (")).json()["error"]
    asked = client.get(write_address("/api/why", group_id="billing")).json()
    assert asked["error"] is None
    assert asked["answers"]


def test_who_asked_the_same_goes_on_when_the_first_one_leaves(
    lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def explain(*given: Any) -> list[Any]:
        asked.append(given)
        if len(asked) == 1:
            raise QueryCancelled("the first one left")
        return []

    monkeypatch.setattr(why, "explain_by", explain)
    answer = open_client(Options(lake, CLUSTER)).get(write_address("/api/why", group_id="billing"))
    assert (answer.status_code, answer.json()["error"]) == (200, None)
    assert len(asked) == 2
