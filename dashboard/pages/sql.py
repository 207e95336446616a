"""SQL: any SELECT over the lake, run in the sandbox; example queries."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from dashboard.openapi.params import Param
from dashboard.openapi.shapes import say
from dashboard.page import Asked, Data, Page
from delta_tables.asking.lakes import Lake
from delta_tables.asking.sandbox import run_query
from delta_tables.catalog import TABLES
from delta_tables.live.tables import Row
from delta_tables.views import VIEWS
from zklake.errors import QueryError

# In the repository, and where a wheel puts them.
_EXAMPLES = (
    Path(__file__).parents[2] / "examples" / "queries",
    Path(__file__).parents[1] / "example_queries",
)
_MOST_CHARACTERS = 4_000_000


def load(asked: Asked) -> Data:
    """The answer to `query`, or why there is none."""
    text = asked.params.get("query", "").strip()
    answer: Data = {"names": [], "rows": [], "is_truncated": False, "error": None}
    if text:
        try:
            answer |= _answer(asked, text)
        except QueryError as error:
            answer["error"] = str(error)
    return {
        "query": text,
        **answer,
        "examples": list_examples(),
        "tables": [
            *({"name": table.name, "says": table.grain} for table in TABLES),
            *({"name": view.name, "says": view.says} for view in VIEWS),
        ],
    }


def _answer(asked: Asked, text: str) -> Data:
    lakes = [Lake(asked.options.lake, asked.options.cluster)]
    with (
        asked.turns.take(asked.cancellation),
        run_query(lakes, text, asked.options.limits, cancellation=asked.cancellation) as answer,
    ):
        rows, is_cut = _collect(row for rows in answer for row in rows)
        is_truncated = is_cut or answer.is_truncated
        return {"names": answer.names, "rows": rows, "is_truncated": is_truncated}


def _collect(answer: Iterable[tuple[Any, ...]]) -> tuple[list[list[Any]], bool]:
    """The rows, as long as a page can hold them; whether that was too few."""
    rows: list[list[Any]] = []
    size = 0
    for row in answer:
        size += sum(len(str(value)) for value in row)
        if size > _MOST_CHARACTERS:
            return rows, True
        rows.append(list(row))
    return rows, False


@cache
def list_examples() -> list[Row]:
    """The example queries: the first line of each is its question."""
    found = next((place for place in _EXAMPLES if place.is_dir()), None)
    paths = sorted(found.glob("*.sql")) if found else []
    texts = [(path.stem, path.read_text()) for path in paths]
    return [
        {"name": name, "question": text.splitlines()[0].removeprefix("-- "), "query": text}
        for name, text in texts
    ]


PAGE = Page(
    "sql",
    "SQL",
    load,
    has_span=False,
    role="analyst",
    params=(
        Param(
            "query",
            str,
            "One SELECT over the tables and views.",
            ("SELECT topic, partition_count FROM topics WHERE is_open",),
        ),
    ),
    answer={
        "query": str,
        "names": say(list[str], "the columns of the result"),
        "rows": say(list[list[Any]], "one value per column"),
        "is_truncated": say(bool, "whether there are more rows"),
        "error": say(str | None, "why the query failed"),
        "examples": [{"name": str, "question": str, "query": str}],
        "tables": [{"name": str, "says": str}],
    },
)
