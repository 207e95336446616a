"""How deeply a query is nested, counted from its tokens before any parser sees it.

A parser tries a name of a type as a type first and then once more as a call: each level of
`date(date(…` costs it twice the one before. So does an IF that may be a statement. Reading tokens
costs the same whatever they say.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import Token, TokenType
from sqlglot.dialects.postgres import Postgres

from zklake.errors import QueryError

# The deepest view or example has six.
_MAX_DEPTH = 32
_MAX_TYPES = 6
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
# What may stand between an INTERVAL and its value.
_BEFORE_VALUE = (*_OPENING, TokenType.DASH, TokenType.PLUS, TokenType.NOT, TokenType.TILDE)
# What may be a type when a bracket follows: `date(`, `"date"(`, `x::int[1][`, `decimal(1)[`, and
# the end of `timestamp with time zone(`.
_TYPES = Postgres.parser_class.TYPE_TOKENS | {TokenType.IDENTIFIER, *_CLOSING}
_ENDS_OF_TYPES = ("zone", "precision", "varying")


def check_nesting(tokens: Iterable[Token]) -> None:
    """QueryError when brackets, or brackets behind what may be a type, stand too deep."""
    tokens = list(tokens)
    _check_intervals(tokens)
    types: list[bool] = []
    ifs = 0
    before: Token | None = None
    for token in tokens:
        if _is_if(token):
            ifs += 1  # where it ends, only a parser knows
            _check_depth(token, ifs, _MAX_TYPES, "IFs")
        elif token.token_type in _OPENING:
            types.append(before is not None and _may_be_type(before))
            _check_depth(token, len(types), _MAX_DEPTH, "brackets")
            _check_depth(token, sum(types), _MAX_TYPES, "types, arrays and structs")
        elif token.token_type in _CLOSING and types:
            types.pop()
        before = token


def _check_intervals(tokens: Iterable[Token]) -> None:
    """An interval of intervals has no meaning, and takes the engine's stack."""
    is_value_wanted = False
    for token in tokens:
        is_interval = token.token_type is TokenType.INTERVAL
        if is_interval and is_value_wanted:
            raise QueryError(f"{_place(token)}: INTERVAL takes a text or a number, as in '1 day'")
        is_value_wanted = is_interval or (is_value_wanted and token.token_type in _BEFORE_VALUE)


def _may_be_type(token: Token) -> bool:
    return token.token_type in _TYPES or token.text.lower() in _ENDS_OF_TYPES


def _is_if(token: Token) -> bool:
    return token.token_type is TokenType.VAR and token.text.lower() == "if"


def _check_depth(token: Token, depth: int, bound: int, what: str) -> None:
    if depth > bound:
        raise QueryError(f"{_place(token)}: {what} are nested more than {bound} deep")


def _place(token: Token) -> str:
    return f"line {token.line}, column {token.col - len(token.text) + 1}"
