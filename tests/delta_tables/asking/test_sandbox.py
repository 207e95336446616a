"""Real processes: what a question from outside can and cannot do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from delta_tables.asking.child_process import choose_environment
from delta_tables.asking.lakes import Lake
from delta_tables.asking.question import Limits, Question
from delta_tables.asking.sandbox import run_query
from delta_tables.catalog import TABLE_BY_NAME
from tests.delta_tables.empty_lake import make_empty_lake
from tests.delta_tables.small_lake import write_lake, write_rows
from zklake.errors import QueryError

ROOT = Path(__file__).parents[3]
ENDLESS = "SELECT count(*) FROM range(0, 100000000) AS a, range(0, 100000000) AS b"
LIMITS = Limits(timeout_s=20, memory_bytes=256 << 20)


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> list[Lake]:
    """Two clusters; the second has no brokers table."""
    path = str(tmp_path_factory.mktemp("lake"))
    names = ("partition_state", "log_gaps", "broker_membership")
    for cluster, leader in (("a", 1), ("b", 2)):
        tables = [TABLE_BY_NAME[name] for name in names if (cluster, name) != ("b", names[2])]
        rows = [{"topic": "orders", "leader": leader, "isr": [1, 2]}]
        write_lake(path, cluster, {"partition_state": rows}, tables)
    return [Lake(path, "a"), Lake(path, "b")]


def ask(lakes: Sequence[Lake], sql: str, limits: Limits = LIMITS) -> list[tuple[Any, ...]]:
    with run_query(lakes, sql, limits) as answer:
        return [row for rows in answer for row in rows]


def test_of_a_table_with_a_condition_no_other_rows_are_there(lakes: Sequence[Lake]) -> None:
    sql = "SELECT cluster, leader FROM partition_state"
    for some in (lakes, lakes[1:]):
        with run_query(some, sql, LIMITS, {"partition_state": "leader = 2"}) as answer:
            assert [row for rows in answer for row in rows] == [("b", 2)]


def test_values_arrive_as_what_they_are() -> None:
    sql = (
        "SELECT TIMESTAMP '2026-11-16T03:12:00.25Z' AT TIME ZONE 'UTC' AS a,"
        " DATE '2026-11-16' AS b, CAST(1.5 AS DECIMAL(5, 2)) AS c, X'00ff' AS d,"
        " [1, NULL] AS e, {x: 'y'} AS f,"
        " MAP {1: 'z'} AS g, TIMESTAMP '2026-01-02' - TIMESTAMP '2026-01-01' AS h,"
        " INTERVAL '1 day' AS i, [now()] AS j, NULL AS k, true AS l"
    )
    ((*values, now, nothing, yes),) = ask([], sql)
    assert (
        values
        == [
            datetime(2026, 11, 16, 3, 12, 0, 250_000, tzinfo=UTC),
            date(2026, 11, 16),
            Decimal("1.50"),
            b"\x00\xff",
            [1, None],
            {"x": "y"},
            {1: "z"},
            timedelta(days=1),
            "1 days",
            now,
        ][:-1]
    )
    assert now[0].utcoffset() == timedelta()
    assert (nothing, yes) == (None, True)


def test_several_clusters_are_one_table(lakes: list[Lake]) -> None:
    sql = "SELECT cluster, topic, leader FROM partition_state ORDER BY cluster"
    assert ask(lakes, sql) == [("a", "orders", 1), ("b", "orders", 2)]
    assert ask(lakes[1:], sql) == [("b", "orders", 2)]
    assert ask(lakes, "SELECT count(*) FROM broker_membership") == [(0,)]
    with pytest.raises(QueryError, match="'broker_membership' is not in this lake yet"):
        ask(lakes[1:], "SELECT count(*) FROM broker_membership")


def test_a_column_that_one_lake_lacks_is_null_there(lakes: list[Lake], tmp_path: Path) -> None:
    now = TABLE_BY_NAME["partition_state"]
    columns = tuple(column for column in now.columns if column.name != "leader")
    old = replace(now, columns=columns)
    make_empty_lake(str(tmp_path), "old", [old])
    write_rows(str(tmp_path), "old", old, [{"topic": "ancient"}])
    both = [Lake(str(tmp_path), "old"), lakes[0]]
    sql = "SELECT topic, leader FROM partition_state ORDER BY topic"
    assert ask(both, sql) == [("ancient", None), ("orders", 1)]


def test_rows_beyond_the_limit_are_cut_and_that_is_said() -> None:
    for count, is_truncated in ((10, False), (11, True), (100_000, True)):
        limits = Limits(max_rows=10)
        with run_query([], f"SELECT * FROM range(0, {count})", limits) as answer:
            assert sum(map(len, answer)) == 10
            assert answer.is_truncated is is_truncated


@pytest.mark.parametrize(
    "sql",
    [
        ENDLESS,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
        "SELECT count(*) FROM range(0, 9999999) a JOIN range(0, 9999999) b ON a.value <> b.value",
    ],
)
def test_an_endless_query_is_stopped(sql: str) -> None:
    with pytest.raises(QueryError, match=r"stopped: .* (longer than 1 s|more memory)"):
        ask([], sql, Limits(timeout_s=1, memory_bytes=256 << 20))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 1000000000)",
        "SELECT value FROM range(0, 30000000) ORDER BY random()",
        "SELECT array_agg(value) OVER (ORDER BY value) FROM range(0, 200000)",
    ],
)
def test_a_query_that_wants_all_memory_is_stopped(sql: str) -> None:
    with pytest.raises(QueryError, match="stopped: the query needs more memory than 256 MiB"):
        ask([], sql)


def test_it_stops_when_nobody_wants_the_answer() -> None:
    with run_query([], "SELECT * FROM range(0, 100000000000)", Limits(max_rows=10**12)) as answer:
        assert next(iter(answer))[0] == (0,)
        pid = answer._process.pid
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_its_process_gets_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZKLAKE_ZOOKEEPER__DIGEST", "user:hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    with run_query([], "SELECT * FROM range(0, 1000000)", LIMITS) as answer:
        text = Path(f"/proc/{answer._process.pid}/environ").read_text()
    names = {variable.partition("=")[0] for variable in text.split("\0") if variable}
    assert "hunter2" not in text
    assert names - {"LD_LIBRARY_PATH"} == {
        "PYTHONPATH",
        "RUST_BACKTRACE",
        "_RJEM_MALLOC_CONF",
        "MALLOC_ARENA_MAX",
        "ARROW_DEFAULT_MEMORY_POOL",
    }


REFUSED = [
    "COPY (SELECT 1) TO '{out}/x.csv'",
    "COPY partition_state TO '{out}/x.parquet'",
    "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '{out}/secret.csv'",
    "CREATE TABLE x AS SELECT 1",
    "SET datafusion.runtime.memory_limit = '100G'",
    "SHOW ALL",
    "SELECT 1; SELECT 2",
    "SELECT * FROM '{out}/secret.csv'",
    "SELECT * FROM read_csv('{out}/secret.csv')",
    "SELECT * FROM read_parquet('http://127.0.0.1:1/x')",
    "SELECT read_text('{out}/secret.csv')",
    "DELETE FROM partition_state",
    "INSERT INTO partition_state SELECT * FROM partition_state",
    "DROP TABLE partition_state",
]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    return tmp_path


def test_what_is_no_question_is_refused_and_leaves_no_trace(
    lakes: list[Lake], outside: Path
) -> None:
    before = list_files(outside, Path(lakes[0].path))
    for sql in REFUSED:
        with pytest.raises(QueryError):
            ask(lakes, sql.format(out=outside))
    assert list_files(outside, Path(lakes[0].path)) == before


def test_even_unchecked_the_process_writes_nothing(lakes: list[Lake], outside: Path) -> None:
    """The second wall: as if the check had been fooled."""
    before = list_files(outside, Path(lakes[0].path))
    for sql in (*REFUSED[:2], *REFUSED[-3:]):
        text = sql.format(out=outside)
        run_fooled_cell(Question(lakes=lakes[:1], sql=text, limits=LIMITS))
    assert list_files(outside, Path(lakes[0].path)) == before


def run_fooled_cell(question: Question) -> None:
    code = (
        "from delta_tables.asking import cell; from delta_tables.asking.querying import Checked\n"
        "cell.check_query = lambda sql, known: Checked(sql, ['partition_state'], False)\n"
        "cell.main()"
    )
    command = [sys.executable, "-c", code]
    text = msgspec.json.encode(question)
    environment = choose_environment(question.lakes)
    done = subprocess.run(command, env=environment, input=text, capture_output=True, check=True)
    assert done.stdout
    assert done.stderr == b""


def list_files(*roots: Path) -> list[tuple[str, int]]:
    found = (path for root in roots for path in root.rglob("*") if path.is_file())
    return sorted((str(path), path.stat().st_size) for path in found)


@pytest.mark.parametrize("how", ["", "VERBOSE", "ANALYZE", "ANALYZE VERBOSE"])
def test_a_plan_does_not_tell_where_the_lake_lies(lakes: list[Lake], how: str) -> None:
    plan = str(ask(lakes, f"EXPLAIN {how} SELECT topic FROM partition_state WHERE leader = 1"))
    assert "file_groups={1 group}" in plan
    for told in (lakes[0].path, lakes[0].path.strip("/"), "part-00000", ".snappy"):
        assert told not in plan


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_ends_by_itself_when_its_parent_is_killed() -> None:
    code = (
        "from delta_tables.asking.question import Limits\n"
        "from delta_tables.asking.sandbox import run_query\n"
        f"a = run_query([], {ENDLESS!r}, Limits(timeout_s=1.5))\n"
        "print(a._process.pid, flush=True); list(a)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT\n nothing FROM log_gaps", "line 2, column 2: no column 'nothing'"),
        ("SELECT cast('\x1b[31m' AS INT)", "Cannot cast string"),
        (
            "SELECT a.cluster FROM log_gaps a JOIN log_gaps b USING (cluster) WHERE cluster = ''",
            "several tables have 'cluster': write a.cluster or b.cluster",
        ),
        ("SELECT 1 / 0", "Divide by zero"),
        ("SELECT input_file_name() FROM log_gaps AS 'input_file_name'(a)", "no function"),
        (f"SELECT {'INTERVAL ' * 150}'1 day'", "INTERVAL takes a text or a number"),
        (f"SELECT {'INTERVAL -(' * 20}'1 day'{')' * 20}", "INTERVAL takes a text or a number"),
        ("FROM log_gaps |> AGGREGATE count(*)", r"line 1, column 15: \|> is not allowed"),
        ("SELECT sum(cluster) FROM log_gaps", r"line 1, column 8: sum\(\) does not take a String"),
    ],
)
def test_a_failure_is_told_in_one_sentence(lakes: list[Lake], sql: str, said: str) -> None:
    with pytest.raises(QueryError, match=said) as failed:
        ask(lakes, sql)
    assert "\n" not in str(failed.value)
