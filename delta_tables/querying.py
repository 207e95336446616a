"""Text from outside -> a query that may run: one SELECT over the lake's tables, nothing else.

deltalake's QueryBuilder would also take COPY and CREATE EXTERNAL TABLE, so SQL is parsed first.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from zklake.errors import QueryError

# The nearest to DataFusion's own dialect among those that sqlglot knows.
_DIALECT = "postgres"
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:ANALYZE\s+|VERBOSE\s+)*", re.IGNORECASE)
_WRITES = (exp.DML, exp.DDL, exp.Copy, exp.Command, exp.Into, exp.Set, exp.Drop, exp.Alter)


def check_query(sql: str, tables: Collection[str]) -> str:
    """The query, ready to run; QueryError when it is not one SELECT over these tables."""
    explained = _EXPLAIN.match(sql)
    statements = _parse(sql[explained.end() :] if explained else sql)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise QueryError("want exactly one SELECT (or WITH … SELECT, or EXPLAIN of one)")
    query = statements[0]
    if any(node is not query and _is_write(node) for node in query.walk()):
        raise QueryError("only reading is allowed: the query writes or changes something")
    _check_tables(query, tables)
    return sql.strip().rstrip(";")


def _parse(sql: str) -> list[exp.Expr]:
    try:
        parsed = sqlglot.parse(sql, dialect=_DIALECT)
    except SqlglotError as error:
        raise QueryError(f"this is not SQL: {error}") from error
    return [statement for statement in parsed if statement is not None]


def _is_write(node: exp.Expr) -> bool:
    # sqlglot counts SELECT among both DML and DDL relatives in some versions: a query never is one.
    return isinstance(node, _WRITES) and not isinstance(node, exp.Query)


def _check_tables(query: exp.Query, tables: Collection[str]) -> None:
    known = {*tables, *(cte.alias_or_name for cte in query.find_all(exp.CTE))}
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or table.args.get("db"):
            raise QueryError(
                f"{table.sql()}: only the lake's own tables can be read, by their name"
            )
        if table.name not in known:
            names = ", ".join(sorted(tables)) or "none yet: is `zklake stream` running?"
            raise QueryError(f"no table {table.name!r} in this lake; it holds {names}")
