from __future__ import annotations

import pytest
from deltalake import QueryBuilder

from delta_tables.asking import querying
from delta_tables.asking.functions import FUNCTIONS
from delta_tables.asking.querying import check_condition, check_query, list_columns
from delta_tables.views import VIEWS
from zklake.errors import QueryError

TABLES = ("broker_membership", "znode_events")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "select * from broker_membership where is_open;",
        "WITH b AS (SELECT * FROM znode_events) SELECT count(*) FROM b JOIN b AS c USING (seq)",
        "EXPLAIN SELECT * FROM znode_events",
        "explain analyze verbose select stat['czxid'], endpoints[1] from znode_events",
        "SELECT broker_id FROM broker_membership UNION ALL SELECT 1",
        "SELECT * FROM (SELECT seq FROM znode_events) WHERE seq IN (SELECT seq FROM znode_events)",
        "SELECT unnest(endpoints) FROM broker_membership",
        "SELECT count(*) FILTER (WHERE is_open) FROM broker_membership",
        "SELECT 'drop table x; copy y' AS words",
        "SELECT * EXCLUDE (seq) FROM znode_events QUALIFY row_number() OVER (ORDER BY seq) = 1",
        "SELECT DISTINCT ON (broker_id) * FROM broker_membership ORDER BY broker_id, seq DESC",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) TABLE r",
        "SELECT * FROM generate_series(1, 3) AS s(n), range(0, 2), unnest([1]) u(x)",
        "SELECT stat.czxid, map_extract(m, 1)[1], {a: 1}, MAP {'a': 1}, x::int FROM znode_events",
        "SELECT CAST(seq AS VARCHAR(9)), extract(hour FROM at), X'00' FROM znode_events",
        "SELECT at AT TIME ZONE 'Europe/Berlin', now() - INTERVAL '1 day' FROM znode_events",
    ],
)
def test_reading_is_allowed(sql: str) -> None:
    assert check_query(sql, TABLES).sql == sql.rstrip(";")


def test_comments_are_blanked_and_places_stay() -> None:
    sql = "-- who\nEXPLAIN /* a */ SELECT 1 -- b; COPY\n, '--' /* /* c */ */ ;"
    checked = check_query(sql, TABLES).sql
    assert checked.split() == ["EXPLAIN", "SELECT", "1", ",", "'--'"]
    assert checked.index("'--'") == sql.index("'--'")
    # Read by whoever does not nest comments, this one would write.
    hidden = "/* /* */ COPY (SELECT 1) TO '/tmp/x' -- */ SELECT 1"
    assert check_query(hidden, TABLES).sql.split() == ["SELECT", "1"]


def test_a_fault_of_the_parser_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(querying._DIALECT, "parse", lambda sql: 1 // 0)
    with pytest.raises(QueryError, match="this is not SQL that zklake can read"):
        check_query("SELECT 1", TABLES)


def test_it_says_which_tables_are_read() -> None:
    sql = 'WITH b AS (SELECT 1) SELECT * FROM Znode_Events, b, "broker_membership"'
    assert check_query(sql, TABLES).names == ["broker_membership", "znode_events"]
    assert check_query("SELECT 1", TABLES).names == []


@pytest.mark.parametrize(
    "sql",
    [
        "",
        ";",
        "-- nothing",
        "not sql at all (",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE znode_events",
        "COPY znode_events TO '/tmp/x.parquet'",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
        "CREATE TABLE x AS SELECT * FROM znode_events",
        "CREATE VIEW x AS SELECT 1",
        "INSERT INTO znode_events VALUES (1)",
        "DELETE FROM znode_events",
        "UPDATE znode_events SET seq = 1",
        "DROP TABLE znode_events",
        "SET datafusion.execution.batch_size = 1",
        "EXPLAIN COPY znode_events TO '/tmp/x.parquet'",
        "EXPLAIN EXPLAIN SELECT 1",
        "SELECT * INTO x FROM znode_events",
        "WITH gone AS (DELETE FROM znode_events RETURNING *) SELECT * FROM gone",
        "SELECT * FROM '/etc/passwd'",
        'SELECT * FROM "/etc/passwd"',
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_parquet('/x')",
        "SELECT * FROM some_function(1)",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM other.znode_events",
        "SELECT * FROM unknown_table",
        "SELECT (SELECT max(seq) FROM unknown_table)",
        'SELECT * FROM "Znode_Events"',
        "SHOW TABLES",
        "SHOW ALL",
        "DESCRIBE znode_events",
        "PREPARE p AS SELECT 1",
        "WITH x AS (SELECT 1) INSERT INTO znode_events SELECT * FROM x",
        "EXPLAIN ANALYZE INSERT INTO znode_events SELECT 1",
        "SELECT read_text('/etc/passwd')",
        "SELECT \"read_text\"('/etc/passwd')",
        "SELECT s3.read_text('/etc/passwd')",
        "WITH read_text(a) AS (SELECT 1) SELECT read_text('/etc/passwd') FROM read_text",
        "SELECT * FROM read_csv_auto('http://127.0.0.1/x')",
        "SELECT * FROM 'http://127.0.0.1/x.parquet'",
        "SELECT input_file_name() FROM znode_events",
        "SELECT input_file_name() FROM znode_events AS 'input_file_name'(a)",
        "SELECT input_file_name() FROM znode_events AS input_file_name(a)",
        'SELECT input_file_name() FROM znode_events AS "input_file_name"(a)',
        "SELECT input_file_name() FROM znode_events LATERAL VIEW explode(x) input_file_name AS a",
        "WITH input_file_name(a) AS (SELECT 1) SELECT input_file_name() FROM znode_events",
        "SELECT current_setting('x')",
        "SELECT * FROM znode_events |> WHERE seq > 1",
        "FROM znode_events |> AGGREGATE",
        "FROM znode_events |>",
        "SELECT $$x$$",
        "SELECT E'\\''",
        "SELECT $1",
        "SELECT ?",
        "SELECT 'open",
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "/**/" * 4000 + "x",
        f"SELECT '{'x' * 20_000}'",
    ],
)
def test_everything_else_is_refused(sql: str) -> None:
    with pytest.raises(QueryError):
        check_query(sql, TABLES)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM brokers", r"no table 'brokers'; there are broker_membership, znode_events"),
        ("SELECT * FROM znode_event", r"no table 'znode_event'; did you mean znode_events\?"),
        ("SELECT\n  cnt(1)", r"line 2, column 3: no function 'cnt'; did you mean count\?"),
        ("SELECT a b c FROM x", r"this is not SQL: line 1, column 12: unexpected near 'c'"),
        ("EXPLAIN SELECT (1", r"line 1, column 17: expecting \) near '1'"),
        ("SELECT a BETWEEN 1", r"line 1, column 18: 'high' missing near '1'"),
        ("SHOW TABLES", r"only one SELECT .*; `zklake tables` lists"),
        ("desc znode_events", r".*`zklake describe TABLE` says what its columns are"),
        ("SELECT 1; SELECT 2", r"only one SELECT"),
        ("SELECT 1, $$x$$", r"line 1, column 11: \$\$…\$\$ is not allowed"),
    ],
)
def test_a_refusal_says_what_and_where_in_plain_words(sql: str, said: str) -> None:
    with pytest.raises(QueryError, match=f"^{said}|{said}$") as refused:
        check_query(sql, TABLES)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("text", ["topic = 'a'", "a IN (1, 2) OR b IS NULL -- why", "is_open"])
def test_conditions(text: str) -> None:
    check_condition(text)


@pytest.mark.parametrize(
    "text", ["1 = 1) OR (1 = 1", "a = 1; SELECT 2", "", "SELECT 1", "a = 1 ORDER BY b", "a = 1 b"]
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        check_condition(text)


def test_every_function_that_the_engine_offers_was_looked_at() -> None:
    engine = QueryBuilder({"datafusion.catalog.information_schema": "true"})
    kinds: dict[str, set[str]] = {}
    for batch in engine.execute(
        "SELECT routine_name, function_type FROM information_schema.routines"
    ):
        for name, kind in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            kinds.setdefault(kind, set()).add(name)
    offered = set().union(*kinds.values())
    # A new one here may read files or addresses: read its documentation before allowing it.
    assert offered - FUNCTIONS == {"input_file_name", "file_row_index"}
    assert offered >= FUNCTIONS
    assert kinds["TABLE"] == {"generate_series", "range"}


def test_the_columns_of_every_view_are_found() -> None:
    for view in VIEWS:
        assert list_columns(view.sql), view.name
    health = {column.name: column.source for column in list_columns(VIEWS[0].sql)}
    assert health["since"] == ("partition_state", "valid_from_at")
    assert health["is_offline"] is None
    assert health["replicas"] is None
