"""What a view over open rows would have said at a moment of the past."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from deltalake import DeltaTable, QueryBuilder

from delta_tables.asking.moments import write_held
from delta_tables.reading import run_sql
from delta_tables.views import VIEWS
from tests.e2e.lake_past import LATE_MS, Fact, Row


def ask_view_at(tables: dict[str, DeltaTable], name: str, ms: int) -> list[Row]:
    """All rows of the view, had it been asked then."""
    (view,) = (view for view in VIEWS if view.name == name)
    engine = QueryBuilder({"datafusion.execution.time_zone": "UTC"})
    held = write_held(datetime.fromtimestamp(ms / 1000, UTC))
    for table in view.inputs:
        engine.register(f"all/{table}", tables[table])
        columns = [field.name for field in tables[table].schema().fields]
        chosen = ", ".join("true AS is_open" if one == "is_open" else one for one in columns)
        engine.execute(f'CREATE VIEW {table} AS SELECT {chosen} FROM "all/{table}" WHERE {held}')
    batches = run_sql(engine, view.sql)
    return [
        dict(zip(names, row, strict=True))
        for names, columns in batches
        for row in zip(*columns, strict=True)
    ]


def find_unconforming(tables: dict[str, DeltaTable], facts: list[Fact]) -> Iterator[str]:
    """Where `conformance` does not find a settled group clean, or misses a zombie."""
    for fact in facts:
        if fact["fact"] == "owners_are":
            found = find_conformance(tables, fact["group"], fact["to_ms"])
            if found != dict.fromkeys(map(int, fact["owners"]), "ok"):
                yield f"{found} of {fact}"
        elif fact["fact"] == "member_unregistered":
            found = find_conformance(tables, fact["group"], fact["to_ms"] + LATE_MS)
            kept = {
                p for one in facts if one["fact"] == "owners_claimed" for p in one["partitions"]
            }
            if {p for p, finding in found.items() if finding == "zombie"} != kept:
                yield f"{found} after {fact}"


def find_conformance(tables: dict[str, DeltaTable], group_id: str, ms: int) -> dict[int, str]:
    """What the view conformance found then, by partition of a group's only topic."""
    rows = ask_view_at(tables, "conformance", ms)
    return {row["partition"]: row["finding"] for row in rows if row["group_id"] == group_id}
