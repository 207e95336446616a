"""`zklake tables`, `describe` and `at`."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from delta_tables.asking.lakes import Lake
from delta_tables.catalog import TABLE_BY_NAME, TABLES
from delta_tables.reading import KNOWN
from delta_tables.views import VIEWS
from tests.delta_tables.small_lake import Rows, write_lake
from zklake.cli.columns import USEFUL, drop_empty, list_useful
from zklake.cli.describe import describe_name
from zklake.cli.main import app
from zklake.cli.tables import print_tables
from zklake.errors import QueryError


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A partition that changed its leader at 04:00; events from 03:00 to 05:00 on 2026-11-16."""
    path = str(tmp_path_factory.mktemp("lake"))
    times = (("03:00", "04:00"), ("04:00", None))
    states = [
        {
            "topic": "orders\x1b[31m",
            "leader": leader,
            "valid_from_at": f"2026-11-16T{start}:00Z",
            "valid_to_at": end and f"2026-11-16T{end}:00Z",
            "ended_by": end and "changed",
        }
        for leader, (start, end) in enumerate(times, 1)
    ]
    gap = {"reason": "session_lost", "path": "\x1b[31m", "valid_from_at": "2026-11-16T04:30:00Z"}
    events = [
        {"seq": 7, "log_id": "log", "observed_at_ms": 1794798000000},
        {"seq": 9, "log_id": "log", "observed_at_ms": 1794805200000},
    ]
    rows: dict[str, Rows] = {"partition_state": states, "log_gaps": [gap], "znode_events": events}
    write_lake(path, "kafka", rows)
    return path


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output or "--csv" in args  # there the bytes are the data
    return result


def test_tables_lists_every_table_and_view_with_its_size(lake: str) -> None:
    listed = run("tables", "--lake", lake)
    lines = [line.split()[:3] for line in listed.stdout.splitlines()]
    assert lines[0] == ["table", "rows", "open_rows"]
    assert ["partition_state", "2", "1"] in lines
    assert {line[0] for line in lines[1:]} == set(KNOWN)
    assert listed.stderr == "kafka: data up to 2026-11-16T05:00:00.000Z (seq 9)\n"


def test_tables_fits_the_terminal(
    lake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "100")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_tables([Lake(lake, "kafka")], "table")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == 80
    assert any(line.endswith("…") for line in lines)


def test_tables_as_json(lake: str) -> None:
    rows = {row["table"]: row for row in json.loads(run("tables", "--lake", lake, "--json").stdout)}
    assert rows["partition_state"] == {
        "cluster": "kafka",
        "table": "partition_state",
        "rows": 2,
        "open_rows": 1,
        "grain": next(table.grain for table in TABLES if table.name == "partition_state"),
        "watermark_seq": 9,
        "watermark_at": "2026-11-16T05:00:00Z",
    }
    assert rows["partition_health"]["rows"] is None


@pytest.mark.parametrize("table", [one.name for one in TABLES])
def test_describe_says_all_about_a_table(table: str) -> None:
    said = json.loads(run("describe", table, "--json").stdout)
    (wanted,) = (one for one in TABLES if one.name == table)
    assert [column["column"] for column in said["columns"]] == list(wanted.names)
    assert said["key"] == list(wanted.key)
    assert list(said["ends"]) == list(wanted.ends)
    text = run("describe", table).stdout
    assert all(f"\n{name} " in text for name in wanted.names)
    assert text.endswith(f"\nor: zklake at t {table}\n") is wanted.is_interval


def test_describe_says_what_a_view_shows() -> None:
    said = {column["column"]: column for column in describe_name("partition_health")["columns"]}
    assert said["leader"]["type"] == "INT"
    assert said["is_offline"]["says"] == "computed: see the SQL below"
    assert VIEWS[0].sql in run("describe", "Partition_Health").stdout


def test_describe_knows_what_was_meant() -> None:
    with pytest.raises(QueryError, match="no table 'topic'; did you mean topics"):
        describe_name("topic")


def test_at_shows_the_rows_that_held(lake: str) -> None:
    asked = run("at", "2026-11-16T03:59:59.999Z", "partition_state", "--lake", lake)
    head, row = (line.split() for line in asked.stdout.splitlines())
    assert head == ["topic", "partition", "leader", *("valid_from_at", "valid_to_at", "ended_by")]
    assert row[:3] == ["orders\\x1b[31m", "0", "1"]
    assert asked.stderr == ""


def test_at_shows_the_rest_on_request(lake: str) -> None:
    asked = ("at", "2026-11-16T03:30Z", "partition_state", "--lake", lake)
    (wanted,) = (one for one in TABLES if one.name == "partition_state")
    assert run(*asked, "--all").stdout.split("\n")[0].split() == list(wanted.names)
    chosen = run(*asked, "--columns", "isr, Leader").stdout.splitlines()
    assert [line.split() for line in chosen] == [["isr", "leader"], ["1"]]
    assert json.loads(run(*asked, "--columns", "leader", "--json").stdout) == [{"leader": 1}]
    for options, said in (
        (("--columns", "leeder"), "partition_state has no column 'leeder'; did you mean leader?"),
        (("--columns", ","), "--columns names none"),
        (("--columns", "leader", "--all"), "cannot be combined"),
    ):
        with pytest.raises(QueryError, match=re.escape(said)):
            run(*asked, *options)


def test_every_table_of_moments_has_its_useful_columns() -> None:
    assert USEFUL.keys() == {one.name for one in TABLES if one.is_interval}
    for name, columns in USEFUL.items():
        (table,) = (one for one in TABLES if one.name == name)
        assert set(columns) <= set(table.names)
        assert list_useful(name, table.names)[-3:] == ["valid_from_at", "valid_to_at", "ended_by"]
    assert list_useful("topics", TABLE_BY_NAME["topics"].names, many_clusters=True)[0] == "cluster"


def test_columns_that_say_nothing_are_left_out() -> None:
    rows: list[tuple[Any, ...]] = [(None, [], 0, "a"), (None, {}, None, "")]
    assert drop_empty(("a", "b", "c", "d"), rows) == (["c", "d"], [[0, "a"], [None, ""]])
    assert drop_empty(("a", "b"), []) == (["a", "b"], [])


def test_at_says_what_is_doubtful(lake: str) -> None:
    asked = run("at", "2026-11-16T04:40", "partition_state", "--lake", lake, "--json")
    (row,) = json.loads(asked.stdout)
    assert (row["leader"], row["is_open"]) == (2, True)
    assert "2026-11-16T04:40 has no zone: taken as UTC\n" in asked.stderr
    about = "kafka: 2026-11-16T04:40:00.000Z: it lies in a gap (session_lost below \\x1b[31m, "
    assert about in asked.stderr


def test_at_takes_a_time_of_day(lake: str) -> None:
    asked = run("at", "04:10Z", "partition_state", "--lake", lake, "--csv")
    assert re.match(r"04:10Z has no day: taken as \S+T04:10:00.000Z, the last one", asked.stderr)


def test_sql_says_what_is_doubtful_of_the_times_it_names(lake: str) -> None:
    held = "valid_from_at <= {0} AND (is_open OR valid_to_at > {0})"
    query = f"SELECT leader FROM partition_state WHERE {held}"
    for time, doubt in (
        ("2026-11-16T03:30:00Z", ""),
        ("2026-11-16T02:00:00Z", "it is before the first event, of 2026-11-16T03:00:00.000Z: only"),
        ("2026-11-16T04:30:00Z", "it lies in a gap (session_lost below \\x1b[31m, "),
        ("2026-11-16T05:00:01Z", "it is past the watermark: the lake has data up to 2026-11-16T"),
    ):
        asked = run("sql", query.format(f"TIMESTAMP '{time}'"), "--lake", lake, "--csv")
        said = asked.stderr.removeprefix(f"kafka: {time[:-1]}.000Z: ")
        assert said.startswith(doubt)
        assert bool(said) is bool(doubt)


def test_at_takes_a_time_ago_and_a_condition(lake: str) -> None:
    asked = run("at", "-1h", "partition_state", "--where", "leader = 2", "--csv", "--lake", lake)
    (row,) = csv.DictReader(io.StringIO(asked.stdout))
    assert row["leader"] == "2"
    assert "past the watermark" in asked.stderr
    for where in ("leader = 1", "topic LIKE 'x%'"):
        none = run("at", "-1h", "partition_state", "--where", where, "--json", "--lake", lake)
        assert json.loads(none.stdout) == []


def test_at_refuses_a_condition_that_ends_its_brackets(lake: str) -> None:
    with pytest.raises(QueryError, match="not SQL"):
        run("at", "now", "partition_state", "--where", "false) OR (true", "--lake", lake)
