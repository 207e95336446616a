"""The page of the migration on a cluster that was rolled back and left something behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dashboard.options import Options
from delta_tables.catalog import TABLES
from tests.dashboard.conftest import open_client
from tests.delta_tables.small_lake import write_lake
from tests.delta_tables.view_lake import Row, state

HOSTILE = "<b>host</b>"


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Options:
    path: Path = tmp_path_factory.mktemp("lake")
    held: Row = {"is_known": True, "controller_epoch": 8}
    copied: Row = {"path": "/migration", "name": "migration", "is_known": True}
    copied |= {"kraft_controller_epoch": 5, "kraft_metadata_offset": 40}
    place: Row = {"group_id": HOSTILE, "topic": "t", "partition": 0, "coordinator": "zookeeper"}
    rows: dict[str, list[Row]] = {
        "controller": [
            state(0, 9, "deleted", controller_id=3000, kraft_controller_epoch=5, **held),
            state(9, controller_id=1, kraft_controller_epoch=-1, **held),
        ],
        "cluster_state": [state(5, **copied)],
        "consumer_offsets": [state(1, **place, committed_offset=5)],
    }
    write_lake(str(path), "c", rows, TABLES)
    return Options(str(path), "c")


def test_verdicts_with_evidence_and_what_to_do(options: Options) -> None:
    text = open_client(options).get("/migration").text
    assert "rolled back, with a leftover" in text
    assert "/migration of an earlier attempt is at offset 40" in text
    assert "What to do:</strong> Note its value and delete it" in text
    assert "/sql?query=SELECT+%2A+FROM+cluster_state+WHERE+valid_from_seq+%3D+300" in text
    assert '<span class="status blocked">blocked</span>' in text
    assert HOSTILE not in text
    assert "&lt;b&gt;host&lt;/b&gt;" in text


def test_a_row_behind_a_verdict_can_be_looked_at(options: Options) -> None:
    client = open_client(options)
    checks = {one["check_name"]: one for one in client.get("/api/migration").json()["checks"]}
    row = checks["leftover"]["evidence"][1]
    query = f"SELECT path FROM {row['source_table']} WHERE valid_from_seq = {row['source_seq']}"
    found = client.get("/api/sql", params={"query": query}).json()
    assert found["rows"] == [["/migration"]]


def test_without_sql_there_are_no_links_to_it(options: Options) -> None:
    client: TestClient = open_client(replace(options, sql=False))
    text = client.get("/migration").text
    assert "/sql?" not in text
    assert "<td>cluster_state</td>" in text


def test_groups_that_use_zookeeper_are_listed(options: Options) -> None:
    (group,) = open_client(options).get("/api/migration").json()["groups"]
    assert (group["group_id"], group["stage"]) == (HOSTILE, "zookeeper")
    assert (group["zookeeper_members"], group["kafka_commit_at"]) == (0, None)


def test_a_parameter_that_nobody_knows_is_refused(options: Options) -> None:
    assert open_client(options).get("/api/migration?last=1h").status_code == 400
