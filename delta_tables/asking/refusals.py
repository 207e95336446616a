"""What DataFusion says when a query fails -> one plain sentence that says where. Pure text.

And what it says of files, which are nobody's business, left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# What each layer puts before the cause.
_PREFIX = re.compile(
    r"^(?:[A-Z]\w*(?: \w+)? [Ee]rror|Error during planning|Optimizer rule '\w+' failed):?\s+"
)
_PARSER = re.compile(r'^ParserError\("(.*)"\)$', re.DOTALL)
_PLACE = re.compile(r",? at Line: (\d+), Column: (\d+)")
_NO_FIELD = re.compile(
    r'^No field named ("?)([^"]+?)\1\.(?=\s|$)(?: Did you mean \'([^\']+)\'\?)?', re.DOTALL
)
_AMBIGUOUS = re.compile(r'^Ambiguous reference to unqualified field ("?)([^"\s]+)\1')
# A table in FROM or JOIN, and what it is called from there on.
_SOURCE = re.compile(
    r"\b(?:FROM|JOIN)\s+(\w+)(?:\s+AS\b)?"
    r"(?:\s+(?!(?:ON|USING|WHERE|JOIN|LEFT|RIGHT|FULL|INNER|CROSS|NATURAL|GROUP|ORDER)\b)(\w+))?",
    re.IGNORECASE,
)
_NOT_GROUPED = re.compile(r'column "([^"]+)" must appear in the GROUP BY')
_ARGUMENTS = re.compile(
    r"Function '(\w+)' failed to match any signature.*?received (\w+)", re.DOTALL
)
_NOT_FOUND = re.compile(r"table '(?:\w+\.)*(\w+)' not found")
# Advice to people who program DataFusion, and lists of all there is.
_ADVICE = re.compile(
    r"(?:Column names are case sensitive|Valid fields are|This issue was likely|Please try|"
    r"No function matches|\tCandidate functions|Candidate functions).*",
    re.DOTALL,
)
_FILES = re.compile(r"(file_groups=\{\d+ groups?): \[.*?\]\}")
_PARQUET = re.compile(r"[^\s\[\]{}()'\",]+\.parquet\b")
_OUT_OF_MEMORY = ("Resources exhausted", "during the spilling process", "Failed to allocate")
_SHOWN_CHARACTERS = 300
_DESCRIBE = "`zklake describe TABLE` lists the columns of a table or view"


def explain_failure(text: str, sql: str) -> str:
    """A sentence without the names of layers, with the place in the query where it is known."""
    cause = _strip_layers(text)
    if column := _explain_column(cause, sql):
        return column
    if called := _ARGUMENTS.search(cause):
        return f"{find_place(sql, called[1])}{called[1]}() does not take a {called[2]} here"
    if unknown := _NOT_FOUND.search(cause):
        return f"table {unknown[1]!r} is not in this lake yet: `zklake stream` makes it"
    if parser := _PARSER.match(cause):
        return f"this is not SQL: {_move_place(parser[1])}"
    shown = " ".join(_ADVICE.sub("", cause).split()) or "DataFusion gave no reason"
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}…"


def _explain_column(cause: str, sql: str) -> str | None:
    if missing := _NO_FIELD.match(cause):
        near = f"did you mean {missing[3].rpartition('.')[2]}?" if missing[3] else _DESCRIBE
        return f"{find_place(sql, missing[2])}no column {missing[2]!r}; {near}"
    if several := _AMBIGUOUS.match(cause):
        return f"several tables have {several[2]!r}: {_suggest_sources(several[2], sql)}"
    if alone := _NOT_GROUPED.search(cause):
        return f"{find_place(sql, alone[1])}{alone[1]!r} must stand in GROUP BY or in an aggregate"
    return None


def hide_files(text: str, places: Iterable[str]) -> str:
    """A plan or a failure without the paths of a lake's files; of a plan, how many groups stays."""
    text = _PARQUET.sub("…", _FILES.sub(r"\1}", text))
    for place in places:
        text = text.replace(place, "…").replace(place.strip("/"), "…")
    return text


def _suggest_sources(name: str, sql: str) -> str:
    sources = dict.fromkeys(alias or table for table, alias in _SOURCE.findall(sql))
    if len(sources) < 2:
        return f"say which, as in t.{name}"
    return f"write {' or '.join(f'{source}.{name}' for source in sources)}"


def is_out_of_memory(text: str) -> bool:
    """Whether a failure means that the query wanted more memory than it may have."""
    return any(words in text for words in _OUT_OF_MEMORY)


def find_place(sql: str, name: str) -> str:
    """`line 1, column 8: ` of the first mention of a name; nothing when there is none."""
    words = name.rpartition(".")[2]
    found = re.search(rf"(?<![\w']){re.escape(words)}(?![\w'])", sql, re.IGNORECASE)
    if found is None:
        return ""
    before = sql[: found.start()]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}: "


def _strip_layers(text: str) -> str:
    cause = text.rpartition("\ncaused by\n")[2].strip()
    while (shorter := _PREFIX.sub("", cause, count=1)) != cause:
        cause = shorter
    return cause


def _move_place(said: str) -> str:
    place = _PLACE.search(said)
    plain = _PLACE.sub("", said).replace("Expected: ", "expected ").replace("found: ", "found ")
    return f"line {place[1]}, column {place[2]}: {plain}" if place else plain
