"""Text from outside -> a query that may run: one SELECT over the lake's tables, nothing else.

deltalake's QueryBuilder would also take COPY, CREATE EXTERNAL TABLE and SET, so SQL is parsed
first. What is handed on has no comments and only plain literals: no two readers differ on where
they end. Text from outside is parsed by the bounded process only (cell.py beside it): no cap on a
text bounds what a parser makes of it.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError, TokenError

from delta_tables.asking.functions import FORMS, FUNCTIONS
from delta_tables.asking.nesting import check_nesting
from zklake.errors import QueryError
from zklake.spelling import did_you_mean

# The nearest to DataFusion's own dialect among those that sqlglot knows.
_DIALECT = Postgres()
# To sqlglot all that follows EXPLAIN is one string. Possessive: no text makes it try twice.
_EXPLAIN = re.compile(
    r"(?>\s+|--[^\n]*\n|/\*.*?\*/)*+(EXPLAIN\s+(?:ANALYZE\s+|VERBOSE\s+)*)",
    re.IGNORECASE | re.DOTALL,
)
_WRITES = (exp.DML, exp.DDL, exp.Copy, exp.Command, exp.Into, exp.Set, exp.Drop, exp.Alter)
_MAX_CHARACTERS = 20_000
_ONE_SELECT = "only one SELECT (or WITH … SELECT, or EXPLAIN of one) is allowed"
# What other databases' people type to look round.
_LOOKS = (TokenType.SHOW, TokenType.DESCRIBE, TokenType.DESC)
_LOOK = "`zklake tables` lists tables and views, `zklake describe TABLE` says what its columns are"
# Strings whose end depends on a prefix, and what stands for a value that nobody gives.
_ODD = {
    TokenType.BYTE_STRING: "E'…'",
    TokenType.HEREDOC_STRING: "$$…$$",
    TokenType.NATIONAL_STRING: "N'…'",
    TokenType.UNICODE_STRING: "U&'…'",
    TokenType.RAW_STRING: "R'…'",
    TokenType.BIT_STRING: "B'…'",
    TokenType.PARAMETER: "a parameter",
    TokenType.DAT: "@@",
    TokenType.PLACEHOLDER: "a placeholder",
    # Pipes: sqlglot and DataFusion do not agree on what they mean.
    TokenType.PIPE_GT: "|>",
}

# What may name a function; words of commands, too, when a bracket follows.
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.EXECUTE, TokenType.COMMAND, TokenType.LOAD)

# It logs syntax that it does not know by itself; the caller gets a QueryError.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


class Checked(NamedTuple):
    """A query that may run, and which of the known tables and views it names."""

    sql: str
    names: list[str]
    # Whether the answer is the engine's plan, which shows where the files lie.
    is_plan: bool


def check_query(sql: str, known: Collection[str]) -> Checked:
    """The query, ready to run; QueryError when it is not one SELECT over these tables."""
    if len(sql) > _MAX_CHARACTERS:
        raise QueryError(f"the query is longer than {_MAX_CHARACTERS} characters")
    explained = _EXPLAIN.match(sql)
    # Blanked, not cut: the places that errors name stay those of the whole text.
    body = _blank(sql[: explained.end()]) + sql[explained.end() :] if explained else sql
    tokens = _tokenize(body)
    if tokens and tokens[0].token_type in _LOOKS:
        raise QueryError(f"{_ONE_SELECT}; {_LOOK}")
    plain = _blank_comments(body, tokens)
    _check_functions(query := _parse_query(plain), tokens)
    if explained:
        plain = _blank(sql[: explained.start(1)]) + explained[1] + plain[explained.end() :]
    return Checked(plain.rstrip().rstrip(";"), _check_tables(query, known), bool(explained))


def check_condition(text: str) -> None:
    """QueryError when the text is not one condition, as it stands after WHERE."""
    # Each check of the whole query follows; this one keeps a condition from ending its brackets.
    statements = _parse(_blank_comments(text, _tokenize(text)))
    if len(statements) != 1 or not isinstance(statements[0], exp.Condition):
        raise QueryError(f"{text!r} is not a condition: use one such as \"topic = 'orders'\"")


class Selected(NamedTuple):
    """A column of a query of our own, and where it is taken from."""

    name: str
    # The table and the column, when it is one of a table's as it stands.
    source: tuple[str, str] | None


def list_columns(sql: str) -> list[Selected]:
    """What a query of our own selects."""
    (query,) = _parse(sql)
    assert isinstance(query, exp.Query)
    clauses = [query.args.get("from_"), *(query.args.get("joins") or ())]
    sources = [clause.this for clause in clauses if clause is not None]
    temporary = {cte.alias for cte in query.find_all(exp.CTE)}
    tables = {
        one.alias_or_name: one.name
        for one in sources
        if isinstance(one, exp.Table) and one.name not in temporary
    }
    return [_select(one, tables) for one in query.selects]


def _select(selected: exp.Expr, tables: Mapping[str, str]) -> Selected:
    made_by, source = selected.unalias(), None
    if isinstance(made_by, exp.Column):
        alias = made_by.table or (next(iter(tables)) if len(tables) == 1 else "")
        source = (tables[alias], made_by.name) if alias in tables else None
    return Selected(selected.alias_or_name, source)


def _tokenize(sql: str) -> list[Token]:
    try:
        tokens = list(_DIALECT.tokenize(sql))
    except TokenError as error:
        raise QueryError("this is not SQL: a quote or a comment is not closed") from error
    for token in tokens:
        if token.token_type in _ODD:
            raise QueryError(
                f"{_place(sql, token.start)}: {_ODD[token.token_type]} is not allowed; write plain "
                "values, text as 'it''s'"
            )
    check_nesting(tokens)
    return tokens


def _blank_comments(sql: str, tokens: Sequence[Token]) -> str:
    """The query with spaces for comments, so that places in it stay what they are."""
    kept, end = [], 0
    for token in tokens:
        kept += [_blank(sql[end : token.start]), sql[token.start : token.end + 1]]
        end = token.end + 1
    return "".join(kept)


def _blank(text: str) -> str:
    return re.sub(r"\S", " ", text)


def _parse_query(sql: str) -> exp.Query:
    statements = _parse(sql)
    if len(statements) != 1 or not isinstance(query := statements[0], exp.Query):
        raise QueryError(_ONE_SELECT)
    if any(node is not query and _is_write(node) for node in query.walk()):
        raise QueryError("only reading is allowed: the query writes or changes something")
    return query


def _parse(sql: str) -> list[exp.Expr]:
    try:
        parsed = _DIALECT.parse(sql)
    except ParseError as error:
        raise QueryError(_explain_parsing(error)) from error
    except RecursionError as error:
        raise QueryError("the query is nested too deeply") from error
    except Exception as error:  # sqlglot's own faults, too: a text can find every one of them
        raise QueryError("this is not SQL that zklake can read") from error
    return [statement for statement in parsed if statement is not None]


def _explain_parsing(error: ParseError) -> str:
    first = error.errors[0]
    near = first["highlight"]
    column = max(1, first["col"] - len(near) + 1)
    what = "unexpected" if "Unexpected" in first["description"] else first["description"].lower()
    what = what.replace("required keyword: ", "").split(" for <class")[0]
    return f"this is not SQL: line {first['line']}, column {column}: {what} near {near!r}"


def _is_write(node: exp.Expr) -> bool:
    # sqlglot counts SELECT among both DML and DDL relatives in some versions: a query never is one.
    return isinstance(node, _WRITES) and not isinstance(node, exp.Query)


def _check_functions(query: exp.Query, tokens: Sequence[Token]) -> None:
    """Only functions that were looked at: by their tokens, for sqlglot gives many another name."""
    # `WITH x(a, b) AS …` and `… AS x(a, b)` look like calls: known by their place, for the
    # same name may be called elsewhere.
    aliases = query.find_all(exp.TableAlias)
    named = {alias.this.meta.get("start") for alias in aliases if alias.this and alias.columns}
    for token in _find_calls(tokens):
        name = token.text.lower()
        if token.start not in named and name not in FUNCTIONS and name not in FORMS:
            where = f"line {token.line}, column {token.col - len(token.text) + 1}"
            raise QueryError(f"{where}: no function {name!r}{did_you_mean(name, FUNCTIONS)}")


def _find_calls(tokens: Sequence[Token]) -> Iterator[Token]:
    for token, following in itertools.pairwise(tokens):
        if token.token_type in _NAMES and following.token_type is TokenType.L_PAREN:
            yield token


def _check_tables(query: exp.Query, known: Collection[str]) -> list[str]:
    temporary = {_fold(cte.args["alias"].this) for cte in query.find_all(exp.CTE)}
    named = set()
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue  # a function, and those are checked
        if table.args.get("db"):
            raise QueryError(
                f"{table.sql()}: only the lake's own tables can be read, by their name"
            )
        name = _fold(table.this)
        if name not in known and name not in temporary:
            near = did_you_mean(name, known) or f"; there are {', '.join(sorted(known))}"
            raise QueryError(f"no table {name!r}{near}")
        named.add(name)
    return sorted(named.intersection(known))


def _fold(identifier: exp.Identifier) -> str:
    return identifier.name if identifier.args.get("quoted") else identifier.name.lower()


def _place(sql: str, offset: int) -> str:
    before = sql[:offset]
    return f"line {before.count(chr(10)) + 1}, column {offset - before.rfind(chr(10))}"
