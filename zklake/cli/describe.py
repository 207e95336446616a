"""`zklake describe`: what a table's columns say, from the catalogue. Opens no lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from zklake.cli.answers import Form, print_rows
from zklake.cli.options import AsJson
from zklake.cli.shell_completion import complete_table

if TYPE_CHECKING:
    from delta_tables.asking.querying import Selected
    from delta_tables.table import Table
    from delta_tables.views import View

Name = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="A table or a view.", autocompletion=complete_table),
]
_AT_A_TIME = (
    "now: WHERE is_open; at a time t: WHERE valid_from_at <= t AND (is_open OR valid_to_at > t),\n"
    "or: zklake at t {name}"
)


def describe(name: Name, *, as_json: AsJson = False) -> None:
    """Describe a table or view: its columns, its key, and why rows end."""
    print_description(name, "json" if as_json else "table")


def print_description(name: str, form: Form) -> None:
    """Print what there is to know of a table or a view."""
    import msgspec

    found = describe_name(name)
    if form == "json":
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
        return
    print(found["says"])
    for key in ("key", "ends", "partitioned_by", "over"):
        for said in [found[key]] if found.get(key) else []:
            words = said if isinstance(said, dict) else dict.fromkeys(said, "")
            print(f"\n{key.replace('_', ' ')}:")
            print(
                *(f"  {word}{': ' if says else ''}{says}" for word, says in words.items()), sep="\n"
            )
    print()
    rows = [[column[key] for key in ("column", "type", "says")] for column in found["columns"]]
    print_rows(("column", "type", "meaning"), rows, "table")
    if "at_a_time" in found:
        print(f"\n{found['at_a_time']}")
    if "sql" in found:
        print(f"\n{found['sql']}", end="")


def describe_name(name: str) -> dict[str, Any]:
    """The same as data; QueryError when there is no such table or view."""
    from delta_tables.catalog import TABLE_BY_NAME
    from delta_tables.views import VIEWS
    from zklake.errors import QueryError
    from zklake.spelling import did_you_mean

    views = {view.name: view for view in VIEWS}
    if name.lower() in TABLE_BY_NAME:
        return _describe_table(TABLE_BY_NAME[name.lower()])
    if name.lower() in views:
        return _describe_view(views[name.lower()])
    known = (*TABLE_BY_NAME, *views)
    near = did_you_mean(name, known) or f"; use one of: {', '.join(sorted(known))}"
    raise QueryError(f"no table {name!r}{near}")


def _describe_table(table: Table) -> dict[str, Any]:
    from delta_tables.table import ENDED_BY

    return {
        "name": table.name,
        "kind": "table",
        "says": table.grain,
        "key": list(table.key),
        "ends": {word: ENDED_BY[word] for word in table.ends},
        "partitioned_by": list(table.partition_by),
        "columns": [
            {
                "column": column.name,
                "type": column.type + (" NOT NULL" if column.required else ""),
                # The comment lists how any table's rows can end.
                "says": "why it ended" if column.name == "ended_by" else column.comment,
            }
            for column in table.columns
        ],
        **({"at_a_time": _AT_A_TIME.format(name=table.name)} if table.is_interval else {}),
    }


def _describe_view(view: View) -> dict[str, Any]:
    from delta_tables.asking.querying import list_columns
    from delta_tables.catalog import TABLE_BY_NAME

    def describe_column(selected: Selected) -> dict[str, str]:
        says = {"column": selected.name, "type": "", "says": "computed: see the SQL below"}
        if selected.source is not None:
            table, name = selected.source
            (column,) = (one for one in TABLE_BY_NAME[table].columns if one.name == name)
            says |= {"type": column.type, "says": column.comment}
        return says

    return {
        "name": view.name,
        "kind": "view",
        "says": view.says,
        "over": list(view.inputs),
        "columns": [describe_column(one) for one in list_columns(view.sql)],
        "sql": view.sql,
    }
