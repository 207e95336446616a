from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import arro3.core
import pytest
import typer
from deltalake import write_deltalake
from typer.testing import CliRunner

from zklake.cli.sql import run_query, sql
from zklake.errors import QueryError

app = typer.Typer()
app.command()(sql)


@pytest.fixture
def lake(tmp_path: Path) -> str:
    """A lake with one table, written without Spark."""
    rows = arro3.core.Table.from_pydict(
        {
            "broker_id": arro3.core.Array([1, 2], type=arro3.core.DataType.int32()),
            "host": arro3.core.Array(["k1", "[red]k2\x1b"], type=arro3.core.DataType.string()),
        }
    )
    write_deltalake(str(tmp_path / "kafka" / "broker_membership"), rows)
    return str(tmp_path)


def ask(lake: str, *args: str) -> str:
    result = CliRunner().invoke(app, [*args, "--lake", lake], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


QUERY = "SELECT broker_id, host FROM broker_membership ORDER BY broker_id"


def test_rows_as_a_table_that_cannot_steer_the_terminal(lake: str) -> None:
    lines = ask(lake, QUERY).splitlines()
    assert [line.split() for line in lines] == [
        ["broker_id", "host"],
        ["1", "k1"],
        ["2", "[red]k2\\x1b"],
    ]


def test_rows_as_json_and_csv(lake: str) -> None:
    wanted = [(1, "k1"), (2, "[red]k2\x1b")]
    rows = json.loads(ask(lake, QUERY, "--json"))
    assert [(row["broker_id"], row["host"]) for row in rows] == wanted
    head, *lines = csv.reader(io.StringIO(ask(lake, QUERY, "--csv")))
    assert head == ["broker_id", "host"]
    assert [(int(a), b) for a, b in lines] == wanted


def test_an_empty_answer_still_has_its_columns(lake: str) -> None:
    assert ask(lake, f"SELECT * FROM ({QUERY}) WHERE broker_id = 9", "--csv") == "broker_id,host\n"
    assert json.loads(ask(lake, "SELECT host FROM broker_membership LIMIT 0", "--json")) == []


def test_explain_answers(lake: str) -> None:
    assert "plan" in ask(lake, f"EXPLAIN {QUERY}")


@pytest.mark.parametrize("query", ["DROP TABLE broker_membership", "SELECT nothing FROM nowhere"])
def test_what_may_not_run_is_refused(lake: str, query: str) -> None:
    with pytest.raises(QueryError):
        run_query(lake, "kafka", query)


def test_a_query_that_fails_says_why(lake: str) -> None:
    with pytest.raises(QueryError, match="no_such_column"):
        run_query(lake, "kafka", "SELECT no_such_column FROM broker_membership")


def test_an_empty_lake_says_so_and_stays_empty(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="kafka holds no tables"):
        run_query(str(tmp_path), "kafka", "SELECT * FROM broker_membership")
    assert list(tmp_path.iterdir()) == []
