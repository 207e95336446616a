from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from delta_tables.asking.readiness import CHECKS, PHASES, VERDICTS
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.views import VIEWS
from tests.delta_tables.small_lake import write_lake
from tests.delta_tables.view_lake import Row, state
from zklake.cli.main import app

VIEW = next(view for view in VIEWS if view.name == "migration_readiness")
HOSTILE = "g\x1b[31m"


def write_cluster(lake: Path, cluster: str, *, leftover: bool = False, late_s: int = 0) -> None:
    """A cluster that was rolled back, perhaps with its /migration; the lake may be behind."""
    held: Row = {"is_known": True, "controller_epoch": 8}
    copied: Row = {"path": "/migration", "name": "migration", "is_known": True}
    copied |= {"kraft_controller_epoch": 5, "kraft_metadata_offset": 40}
    place: Row = {"group_id": HOSTILE, "topic": "t", "partition": 0, "coordinator": "zookeeper"}
    now = round((time.time() - late_s) * 1000)
    rows: dict[str, list[Row]] = {
        "controller": [
            state(0, 9, "deleted", controller_id=3000, kraft_controller_epoch=5, **held),
            state(9, controller_id=1, kraft_controller_epoch=-1, **held),
        ],
        "broker_membership": [state(0, broker_id=1, registration_version=5, is_known=True)],
        "cluster_state": [state(5, **copied)] if leftover else [],
        "consumer_offsets": [state(1, **place, committed_offset=5)] if leftover else [],
        "znode_events": [
            {"seq": 1, "op": "heartbeat", "observed_at_ms": now, "observed_on": "2026-11-16"}
        ],
    }
    tables = [TABLE_BY_NAME[name] for name in {*VIEW.inputs, "znode_events"}]
    write_lake(str(lake), cluster, {name: some for name, some in rows.items() if some}, tables)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("lake")
    write_cluster(path, "clean")
    write_cluster(path, "left", leftover=True)
    return str(path)


def ask(lake: str, cluster: str, *options: str) -> Result:
    command = ["migration", "--lake", lake, "--cluster", cluster, *options]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def test_a_leftover_is_told_with_what_to_do_and_the_row_behind(lake: str) -> None:
    result = ask(lake, "left")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "left: rolled back, with a leftover"
    assert lines[1].split() == ["verdict", "check", "finding"]
    assert [line.split()[0] for line in lines[2:9]] == [
        *("warning", "ok", "blocked", "warning", "ok", "ok", "ok")
    ]
    told = lines[lines.index("leftover: blocked") + 1 :]
    assert told[0].startswith("  what to do: Note its value and delete it")
    assert "  /migration has epoch 5 and offset 40 [cluster_state 300]" in told
    # A group's name cannot steer a terminal.
    assert "\x1b" not in result.stdout
    assert "g\\x1b[31m" in result.stdout


def test_where_nothing_is_blocked_the_exit_code_is_zero(lake: str) -> None:
    result = ask(lake, "clean")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "clean: rolled back")
    assert "what to do" not in result.stdout


def test_as_json_of_several_clusters(lake: str) -> None:
    result = ask(lake, "clean,left", "--json")
    assert result.exit_code == 1
    clean, left = json.loads(result.stdout)
    assert (clean["cluster"], clean["phase"], clean["verdict"]) == ("clean", "rolled_back", "ok")
    assert (left["phase"], left["verdict"]) == ("rolled_back_leftover", "blocked")
    assert [check["check_name"] for check in left["checks"]] == list(CHECKS)
    evidence = {"source_table": "cluster_state", "source_seq": 300}
    assert left["checks"][2]["evidence"][1].items() >= evidence.items()


def test_a_lake_that_is_behind_is_doubted(tmp_path: Path) -> None:
    write_cluster(tmp_path, "fresh")
    write_cluster(tmp_path, "late", late_s=600)
    assert ask(str(tmp_path), "fresh").stderr == ""
    assert "late: the lake has data up to 20" in ask(str(tmp_path), "late").stderr


def test_a_cluster_of_which_nothing_is_known(tmp_path: Path) -> None:
    write_lake(str(tmp_path), "new", {}, [TABLE_BY_NAME[name] for name in VIEW.inputs])
    result = ask(str(tmp_path), "new")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "new: unknown")
    assert "the lake has no data yet" in result.stderr


def test_the_words_of_the_view_are_known_to_whoever_shows_them() -> None:
    for word in (*CHECKS, *PHASES, *VERDICTS):
        assert f"'{word}'" in VIEW.sql
