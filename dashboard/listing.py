"""A long list as an address asks for it: searched, sorted, one page of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from dashboard.openapi.params import Param
from dashboard.openapi.shapes import Named, Shape, choose, say

Row = Mapping[str, Any]
PAGE_ROWS = 50


def list_page(
    rows: Sequence[Row],
    params: Mapping[str, str],
    *,
    search: Sequence[str],
    sort: str,
    is_descending: bool = False,
) -> dict[str, Any]:
    """`q` searches these columns, `sort` names one (`-name`: downwards), `page` counts from 1."""
    text = params.get("q", "").strip().lower()
    found = [row for row in rows if not text or _has(row, search, text)]
    asked = params.get("sort", "")
    column, down = (asked.lstrip("-"), asked.startswith("-")) if asked else (sort, is_descending)
    if rows and column not in rows[0]:
        column, down = sort, is_descending
    found = _sort(found, column, is_descending=down)
    pages = max(1, -(-len(found) // PAGE_ROWS))
    number = min(max(_read_number(params.get("page", "")), 1), pages)
    return {
        "rows": found[(number - 1) * PAGE_ROWS : number * PAGE_ROWS],
        "total": len(rows),
        "found": len(found),
        "page": number,
        "pages": pages,
        "sort": f"-{column}" if down else column,
        "q": params.get("q", ""),
    }


def describe_list(row: Named) -> dict[str, Shape]:
    """The shape of a list of such rows."""
    return {
        "rows": [row],
        "total": say(int, "rows before the search"),
        "found": say(int, "rows that the search found, on all pages"),
        "page": say(int, "the number of this page; the last one if a later one was requested"),
        "pages": int,
        "sort": _list_orders(row),
        "q": str,
    }


def list_params(row: Named, searched: str) -> tuple[Param, ...]:
    """What a list can be asked for."""
    number = Annotated[int, Meta(ge=1, le=99_999_999)]
    return (
        Param("q", str, f"Only rows with this text in {searched}.", ("ord",)),
        Param("sort", _list_orders(row), "The column to sort by; descending with a `-`."),
        Param("page", number, f"Which page of {PAGE_ROWS} rows, from 1.", ("1",)),
    )


def _list_orders(row: Named) -> Any:
    return choose(*row.shape, *(f"-{name}" for name in row.shape))


def _has(row: Row, columns: Sequence[str], text: str) -> bool:
    return any(text in str(row[column] or "").lower() for column in columns)


def _sort(rows: list[Row], column: str, *, is_descending: bool) -> list[Row]:
    """What is not known comes last, in either direction."""
    known = [row for row in rows if row[column] is not None]
    unknown = [row for row in rows if row[column] is None]
    return sorted(known, key=lambda row: row[column], reverse=is_descending) + unknown


def _read_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1
