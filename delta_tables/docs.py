"""docs/tables.md, made from the tables themselves: `python -m delta_tables.docs`."""

from __future__ import annotations

from delta_tables.asking.querying import list_columns
from delta_tables.catalog import TABLES
from delta_tables.intervals import INTERVAL_COLUMNS
from delta_tables.table import Column, Table
from delta_tables.views import VIEWS, View

_HEAD = """# The tables

Made from `delta_tables/tables/*.py` by `make docs`; do not edit.

Each cluster has a lake of its own: `<lake>/<cluster>/<table>`. Every table is plain Delta with
reader protocol 1. In an interval table a row is one state of one thing: now is `WHERE is_open`, the
state at some time is `WHERE valid_from_at <= t AND (is_open OR valid_to_at > t)`, and all rows are
the history. Closed rows are never changed.

## Shared columns

Interval tables have these, or those of them that they name.

"""
_COLUMNS_HEAD = ("| column | type | says |", "|---|---|---|")


def describe() -> str:
    """The whole document."""
    shared = [*_COLUMNS_HEAD, *map(_describe_column, INTERVAL_COLUMNS), ""]
    parts = [_HEAD + "\n".join(shared), *(_describe_table(table) for table in TABLES)]
    return "\n".join([*parts, "# The views\n", *(_describe_view(view) for view in VIEWS)])


def _describe_table(table: Table) -> str:
    facts = [f"key: {_names(table.key)}"]
    if table.kinds:
        facts.append(f"made of: {_names(table.kinds)} ([kinds](events.md))")
    if table.samples:
        facts.append(f"of Kafka-stored groups: `{table.samples.op}` ([samples](events.md))")
    if table.ends:
        facts.append(f"a row ends by: {_names(table.ends)}")
    if table.as_of:
        inputs = ", ".join(f"`{wanted.table}.{wanted.column}`" for wanted in table.as_of)
        facts.append(f"reads, as of each event: {inputs}")
    if table.partition_by:
        facts.append(f"partitioned by: {_names(table.partition_by)}")
    kept = "for ever" if table.retention_days is None else f"{table.retention_days} days"
    facts.append(f"kept: {kept}")
    # Written once, at the head: each of them says the same in every table that has it.
    once = {_describe_column(column) for column in INTERVAL_COLUMNS}
    rows = {column.name: _describe_column(column) for column in table.columns}
    if shared := tuple(name for name, row in rows.items() if row in once):
        facts.append(f"[shared columns](#shared-columns): {_names(shared)}")
    lines = [f"## {table.name}\n", table.grain, "", *(f"- {fact}" for fact in facts), ""]
    lines += [*_COLUMNS_HEAD, *(row for row in rows.values() if row not in once)]
    return "\n".join([*lines, ""])


def _describe_column(column: Column) -> str:
    required = ", not null" if column.required else ""
    comment = column.comment.replace("|", "\\|")
    return f"| `{column.name}` | {column.type}{required} | {comment} |"


def _describe_view(view: View) -> str:
    said = f"{view.says} {view.notes}".rstrip()
    columns = tuple(column.name for column in list_columns(view.sql))
    facts = f"- columns: {_names(columns)}\n- over: {_names(view.inputs)}\n"
    return f"## {view.name}\n\n{said}\n\n{facts}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(describe(), end="")  # noqa: T201
