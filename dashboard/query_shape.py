"""The shape of a query: its keywords, functions, tables and columns. All else becomes `?`.

By a list of what may be shown, for anything can be pasted into a query: a password, a key, a name.
"""

from __future__ import annotations

import re
from functools import cache

from delta_tables.catalog import TABLES
from delta_tables.views import VIEWS

_LONGEST = 2000
_PARTS = re.compile(
    r"""
      (?P<text> '(?:[^']|'')*(?:'|$) | \$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|$) )
    | (?P<comment> --[^\n]* | /\*.*?(?:\*/|$) )
    | (?P<quoted> "(?:[^"]|"")*(?:"|$) | `[^`]*(?:`|$) )
    | (?P<number> \d[\w.]* )
    | (?P<word> [^\W\d]\w* )
    | (?P<space> \s+ )
    | (?P<sign> [-+*/%=<>!|&^~.,;:()\[\]{}] )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = """
    all and any array as asc between by case cast cross current date desc describe distinct else end
    escape except exists explain extract false fetch filter first following from full group having
    ilike in inner intersect interval into is join last lateral left like limit natural not null
    nulls offset on or order outer over partition preceding qualify range recursive right row rows
    select set show similar some tables then timestamp to true unbounded union unnest using values
    when where window with within without
    abs approx_distinct array_agg array_length arrow_cast avg bool_and bool_or cardinality ceil
    coalesce concat count date_bin date_part date_trunc dense_rank first_value floor from_unixtime
    greatest lag last_value lead least length lower lpad ltrim max median min now ntile nullif
    percent_rank power random rank regexp_like regexp_replace replace round row_number rpad rtrim
    split_part sqrt starts_with stddev string_agg strpos substr substring sum to_char to_timestamp
    trim trunc unixepoch upper variance year month week day hour minute second
    bigint boolean char decimal double float int integer real smallint string text time tinyint
    varchar
"""


def write_shape(query: str) -> str:
    """On one line, so far as it is not too long."""
    parts = [_show(match) for match in _PARTS.finditer(query[:_LONGEST])]
    return "".join(parts).strip() + ("…" if len(query) > _LONGEST else "")


def _show(match: re.Match[str]) -> str:
    kind, text = match.lastgroup, match[0]
    if kind == "tag":  # the group inside of a text
        kind = "text"
    match kind:
        case "space" | "comment":
            return " "
        case "sign":
            return text
        case "word" if text.lower() in _list_known():
            return text
        case "quoted" if text.strip('"`').lower() in _list_known():
            return text
    return "?"


@cache
def _list_known() -> frozenset[str]:
    columns = {column.name for table in TABLES for column in table.columns}
    # A view's columns stand in its own text, with whatever else our own text says.
    words = {word for view in VIEWS for word in re.findall(r"[a-z_]\w{2,}", view.sql.lower())}
    names = {*(table.name for table in TABLES), *(view.name for view in VIEWS)}
    return frozenset({*_WORDS.split(), *columns, *words, *names})
