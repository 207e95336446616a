from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from delta_tables.catalog import TABLE_BY_NAME
from tests.delta_tables.small_lake import Rows, write_lake
from zklake.cli.sql import sql
from zklake.errors import QueryError

app = typer.Typer()
app.command()(sql)

NAMES = {1: "k1", 2: "[red]k2\x1b\n\u202e"}
QUERY = "SELECT broker_id, host FROM broker_membership ORDER BY broker_id"
ENDLESS = "SELECT count(*) FROM range(0, 100000000) AS a, range(0, 100000000) AS b"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two clusters with two brokers each, one of them with a hostile name."""
    path = str(tmp_path_factory.mktemp("lake"))
    brokers = [
        {"broker_id": id_, "host": host, "valid_from_at": "2026-11-16T03:12:00.250Z"}
        for id_, host in NAMES.items()
    ]
    for cluster in ("kafka", "other"):
        table = TABLE_BY_NAME["broker_membership"]
        write_lake(path, cluster, {"broker_membership": brokers}, [table])
    return path


def ask(lake: str, *args: str, text: str | None = None) -> str:
    result = CliRunner().invoke(app, [*args, "--lake", lake], input=text, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def run(*args: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "zklake", *args]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **options)  # type: ignore[call-overload, no-any-return]


def test_rows_as_a_table_that_cannot_steer_the_terminal(lake: str) -> None:
    lines = ask(lake, QUERY).splitlines()
    assert [line.split() for line in lines] == [
        ["broker_id", "host"],
        ["1", "k1"],
        ["2", "[red]k2\\x1b\\n\\u202e"],
    ]


def test_rows_as_json_and_csv(lake: str) -> None:
    text = ask(lake, QUERY, "--json")
    assert text.replace("\n", "").isprintable()
    rows = json.loads(text)
    assert {row["broker_id"]: row["host"] for row in rows} == NAMES
    head, *lines = csv.reader(io.StringIO(ask(lake, QUERY, "--csv")))
    assert head == ["broker_id", "host"]
    assert {int(id_): host for id_, host in lines} == NAMES


def test_times_are_iso_8601_everywhere(lake: str) -> None:
    query = "SELECT valid_from_at, closed_on FROM broker_membership LIMIT 1"
    (row,) = json.loads(ask(lake, query, "--json"))
    assert row == {"valid_from_at": "2026-11-16T03:12:00.250000Z", "closed_on": None}
    assert "2026-11-16T03:12:00.250Z" in ask(lake, query)
    assert "2026-11-16T03:12:00.250Z," in ask(lake, query, "--csv")


def test_two_columns_of_one_name_both_reach_json(lake: str) -> None:
    query = (
        "SELECT a.host, b.host FROM broker_membership a JOIN broker_membership b ON true LIMIT 1"
    )
    assert json.loads(ask(lake, query, "--json"))[0].keys() == {"host", "host_2"}


def test_an_empty_answer_still_has_its_columns(lake: str) -> None:
    assert ask(lake, f"SELECT * FROM ({QUERY}) WHERE broker_id = 9", "--csv") == "broker_id,host\n"
    assert json.loads(ask(lake, "SELECT host FROM broker_membership LIMIT 0", "--json")) == []


def test_an_answer_without_rows_says_so_to_a_person(lake: str) -> None:
    result = CliRunner().invoke(app, ["SELECT host FROM broker_membership LIMIT 0", "--lake", lake])
    assert (result.stdout, result.stderr) == ("host\n", "(no rows)\n")


def test_explain_answers(lake: str) -> None:
    assert "plan" in ask(lake, f"EXPLAIN {QUERY}")


def test_a_query_can_be_piped_in(lake: str) -> None:
    assert "k1" in ask(lake, text=f"-- Who is there?\n{QUERY};\n")


def test_several_clusters_and_all_of_them(lake: str) -> None:
    query = "SELECT DISTINCT cluster FROM broker_membership ORDER BY cluster"
    assert ask(lake, query, "--csv").split() == ["cluster", "kafka"]
    for clusters in ("kafka,other", "*"):
        answered = ask(lake, query, "--csv", "--cluster", clusters)
        assert answered.split() == ["cluster", "kafka", "other"]


def test_rows_that_are_cut_off_are_said(lake: str) -> None:
    result = CliRunner().invoke(app, [QUERY, "--lake", lake, "--csv", "--max-rows", "1"])
    assert result.stdout == "broker_id,host\n1,k1\n"
    assert "truncated after 1 row or" in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["DROP TABLE broker_membership"], "only one SELECT"),
        (["SELECT nothing FROM nowhere"], "no table 'nowhere'"),
        (["SELECT no_such FROM broker_membership"], "line 1, column 8: no column 'no_such'"),
        ([ENDLESS, "--timeout", "0.5"], r"longer than 0.5 s.*--timeout"),
        ([QUERY, "--json", "--csv"], "cannot be combined"),
        ([QUERY, "--cluster", "nobody"], r"nobody holds no tables \(there are: kafka, other\)"),
    ],
)
def test_what_may_not_run_or_fails_is_said(lake: str, args: list[str], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        ask(lake, *args)


def test_an_empty_lake_says_so_and_stays_empty(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="kafka holds no tables"):
        ask(str(tmp_path), "SELECT * FROM broker_membership")
    assert list(tmp_path.iterdir()) == []


def test_where_nobody_names_a_lake_that_of_a_run_here_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    topics: Rows = [{"topic": "orders"}]
    write_lake(str(tmp_path / ".zklake/run/lake"), "lab", {"topics": topics})
    question = ["SELECT topic FROM topics", "--csv"]
    found = CliRunner().invoke(app, question, catch_exceptions=False)
    assert found.stdout == "topic\norders\n"
    assert found.stderr == "lake: .zklake/run/lake, of `make run` (--lake names another)\n"
    for named in (["--cluster", "lab"], ["--lake", "lake"]):
        with pytest.raises(QueryError, match="holds no tables"):
            CliRunner().invoke(app, [*question, *named], catch_exceptions=False)


def test_an_error_is_one_harmless_line_with_its_exit_code(lake: str) -> None:
    query = "SELECT CAST(host AS INT) FROM broker_membership WHERE broker_id = 2"
    with run("sql", query, "--lake", lake) as process:
        _, said = process.communicate(timeout=60)
    assert process.returncode == QueryError.exit_code
    assert said.startswith("error: Cannot cast string '[red]k2\\x1b")
    assert said.count("\n") == 1


def test_who_closes_the_pipe_early_gets_no_traceback(lake: str) -> None:
    query = "SELECT value FROM range(0, 100000)"
    with run("sql", query, "--csv", "--lake", lake) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "value\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@pytest.fixture
def not_ignored(number: signal.Signals) -> Iterator[None]:
    """Tests that run under nohup, or in the background, would have children that ignore it."""
    former = signal.signal(number, signal.SIG_DFL)
    yield
    signal.signal(number, former)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
@pytest.mark.usefixtures("not_ignored")
def test_ctrl_c_and_a_hang_up_stop_the_query_and_its_process(
    lake: str, number: signal.Signals, code: int
) -> None:
    with run("sql", ENDLESS, "--lake", lake, start_new_session=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + 30
        while not (found := children.read_text().split()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.5)  # into the query
        os.killpg(process.pid, number)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (code, "")
    deadline = time.monotonic() + 30
    while Path(f"/proc/{found[0]}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
