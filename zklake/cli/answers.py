"""Rows as a table, as CSV or as JSON on stdout. Knows nothing of queries.

Values are other people's bytes: in a table none may steer the terminal or start a line of its own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

# What Excel, LibreOffice and Google's begin a formula with; they pass over what comes before.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
Row = Sequence[Any]
Form = Literal["table", "csv", "json"]


def choose_form(*, as_json: bool, as_csv: bool) -> Form:
    """The form that the flags ask for."""
    from zklake.errors import QueryError

    if as_json and as_csv:
        raise QueryError("--json and --csv cannot be combined")
    return "json" if as_json else "csv" if as_csv else "table"


def print_rows(names: Sequence[str], rows: Iterable[Row], form: Form) -> None:
    """Print the rows; a table that does not fit the terminal goes to the pager."""
    if form == "json":
        _print_json(names, rows)
    elif form == "csv":
        _print_csv(names, rows)
    else:
        from zklake.cli.pager import page

        lines = list(lay_out(names, rows))
        page(lines)
        if len(lines) == 1:
            print("(no rows)", file=sys.stderr)


def _print_json(names: Sequence[str], rows: Iterable[Row]) -> None:
    import msgspec

    keys = _make_unique(names)
    separator = "[\n"
    for row in rows:
        # It writes times as ISO 8601, bytes as base64, and what is no number as null.
        text = msgspec.json.encode(dict(zip(keys, row, strict=True))).decode()
        sys.stdout.write(separator + _escape_json(text))
        separator = ",\n"
    sys.stdout.write("[]\n" if separator == "[\n" else "\n]\n")


def _escape_json(text: str) -> str:
    """The same JSON, with everything that cannot be seen written as \\u…."""
    if text.isprintable():
        return text
    import json

    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _make_unique(names: Sequence[str]) -> list[str]:
    """Two columns may have one name; a JSON object cannot hold both."""
    keys: list[str] = []
    for name in names:
        copies = sum(1 for earlier in names[: len(keys)] if earlier == name)
        keys.append(f"{name}_{copies + 1}" if copies else name)
    return keys


def _print_csv(names: Sequence[str], rows: Iterable[Row]) -> None:
    import csv

    from zklake.logs import escape

    # On a terminal nobody parses them.
    write = (lambda cell: escape(write_csv(cell))) if sys.stdout.isatty() else write_csv
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([write(name) for name in names])
    writer.writerows([write(cell) for cell in row] for row in rows)


def write_csv(value: object) -> str:
    """A value as text that a spreadsheet shows and never runs: a formula gets a ' before it.

    Names are other people's; a number with a sign is no formula. JSON has every text as it is.
    """
    text = write_cell(value)
    if isinstance(value, str) and text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def lay_out(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Lines with aligned columns, the names first."""
    from zklake.logs import escape

    lines = [[escape(write_cell(cell)) for cell in row] for row in (names, *rows)]
    widths = [max(map(measure, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (
            cell + " " * (width - measure(cell)) for cell, width in zip(line, widths, strict=True)
        )
        yield "  ".join(padded).rstrip()


def cut(text: str, width: int) -> str:
    """A text of ours, no longer than that."""
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def measure(text: str) -> int:
    """Columns that a text takes on a terminal: some characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def write_cell(value: object) -> str:
    """A value as text: null is empty, times are ISO 8601, lists and maps JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return write_time(value)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, list | dict):
        import msgspec

        return msgspec.json.encode(value).decode()
    return str(value)


def write_time(value: datetime) -> str:
    """2026-11-16T03:12:00.250Z; microseconds only where there are any."""
    precision = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.isoformat(timespec=precision).replace("+00:00", "Z")
