from __future__ import annotations

import pytest

from delta_tables.querying import check_query
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
    ],
)
def test_reading_is_allowed(sql: str) -> None:
    assert check_query(sql, TABLES) == sql.rstrip(";")


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
    ],
)
def test_everything_else_is_refused(sql: str) -> None:
    with pytest.raises(QueryError):
        check_query(sql, TABLES)


def test_a_wrong_name_is_answered_with_the_right_ones() -> None:
    with pytest.raises(QueryError, match=r"no table 'brokers'.*broker_membership, znode_events"):
        check_query("SELECT * FROM brokers", TABLES)
