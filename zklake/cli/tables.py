"""`zklake tables`: what there is to ask."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zklake.cli.answers import Form, choose_form, cut, lay_out, print_rows, write_time
from zklake.cli.asking import AsCsv, Clusters, choose_scope
from zklake.cli.options import AsJson, Config, Lake

if TYPE_CHECKING:
    from delta_tables.asking.lakes import Lake as Place

_NAMES = ("cluster", "table", "rows", "open_rows", "one row per", "watermark_seq", "watermark_at")
_LEAST_ROOM = 20


def tables(
    *,
    lake: Lake = None,
    cluster: Clusters = None,
    config: Config = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List tables and views: what a row is, how many there are, and how recent the data is."""
    form = choose_form(as_json=as_json, as_csv=as_csv)
    print_tables(choose_scope(config, lake=lake, cluster=cluster).lakes, form)


def print_tables(lakes: Sequence[Place], form: Form) -> None:
    """Print the list; a person gets each watermark once, on stderr."""
    rows = [row for lake in lakes for row in list_tables(lake)]
    if form != "table":
        print_rows([name.replace("one row per", "grain") for name in _NAMES], rows, form)
        return
    columns = slice(0 if len(lakes) > 1 else 1, 5)
    shown = [[*row[:4], _shorten(row[4]), *row[5:]] for row in rows]
    print_rows(_NAMES[columns], _fit(_NAMES[columns], [row[columns] for row in shown]), form)
    for name, seq, at in dict.fromkeys((row[0], *row[5:]) for row in rows if row[6]):
        print(f"{name}: data up to {write_time(at)} (seq {seq})", file=sys.stderr)


def list_tables(lake: Place) -> Iterator[tuple[Any, ...]]:
    """Rows of (cluster, table, rows, open rows, grain, watermark's seq, watermark's time)."""
    from delta_tables.asking.stats import measure_lake
    from delta_tables.catalog import TABLE_BY_NAME
    from delta_tables.reading import find_views

    found = measure_lake(lake.path, lake.cluster)
    mark = (found.watermark, found.watermark_at)
    for one in found.tables:
        grain = TABLE_BY_NAME[one.table].grain
        yield (lake.cluster, one.table, one.rows, one.open_rows, grain, *mark)
    for view in find_views([one.table for one in found.tables]):
        yield (lake.cluster, view.name, None, None, f"View: {view.says}", *mark)


def _fit(names: Sequence[str], rows: list[list[Any]]) -> list[list[Any]]:
    """On a terminal the last column is cut to what the others leave; `describe` has all of it."""
    if not sys.stdout.isatty():
        return rows
    others = lay_out(names[:-1], [row[:-1] for row in rows])
    room = shutil.get_terminal_size().columns - max(map(len, others)) - 2
    return [[*row[:-1], cut(row[-1], max(room, _LEAST_ROOM))] for row in rows]


def _shorten(grain: str) -> str:
    return grain.removeprefix("One row per ")
