"""Days of offset_lag that are over -> lag_rollups, before anybody trims them. Without Spark.

A day is made by the view lag_history, which reads it from offset_lag as long as it is not rolled
up: so it reads the same before and after. Making it again changes nothing.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Transaction,
    write_deltalake,
)

from delta_tables import reading
from delta_tables.creation import add_missing_columns, create_table
from delta_tables.tables.lag_rollups import LAG_ROLLUPS
from delta_tables.views import VIEWS
from streaming.maintenance.plan import MaintenanceStep

SOURCE = "offset_lag"
# Under this Delta transaction id lag_rollups says which day is the last that was rolled up.
ROLLED_MARK = "zklake.rolled_up"
# The stream may still hold back the last rows of yesterday.
_DAYS_LEFT_ALONE = 1
# Beyond so many rows a day is made hour by hour, so that memory stays small.
_MOST_ROWS = 500_000
_HOOKS = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)


def plan_rollups(lake: str, cluster: str, source: DeltaTable, today: date) -> list[MaintenanceStep]:
    """A step for every day that is over and not rolled up yet, oldest first."""
    rolled = reading.open_table(lake, cluster, LAG_ROLLUPS.name)
    mark = None if rolled is None else rolled.transaction_version(ROLLED_MARK)
    first = _find_first_day(source) if mark is None else date.fromordinal(mark + 1)
    last = today - timedelta(days=_DAYS_LEFT_ALONE + 1)
    count = 0 if first is None else (last - first).days + 1
    days = [last - timedelta(days=back) for back in reversed(range(count))]
    return [
        MaintenanceStep(SOURCE, "roll_up", f"{day} into {LAG_ROLLUPS.name}", (("day", day),))
        for day in days
    ]


def _find_first_day(source: DeltaTable) -> date | None:
    (row,) = reading.query_rows(
        {SOURCE: source}, f"SELECT min(valid_from_at) AS first_at FROM {SOURCE}"
    )
    first_at: datetime | None = row["first_at"]
    return None if first_at is None else first_at.date()


def roll_up(lake: str, cluster: str, source: DeltaTable, day: date) -> str:
    """Make one day; returns what came of it, in a few words."""
    path = reading.table_path(lake, cluster, LAG_ROLLUPS.name)
    known = reading.open_table(lake, cluster, LAG_ROLLUPS.name)
    if known is None:
        create_table(LAG_ROLLUPS, path)
    else:
        add_missing_columns(LAG_ROLLUPS, known)
    engine = _build_engine(cluster, source, day)
    count, hours = 0, _split_day(engine)
    for begin, end in hours:
        rows = _read_buckets(engine, day, begin, end)
        count += rows.num_rows
        # The first write takes away what a broken attempt left; only the last says that it is done.
        _write(path, rows, day, is_first=begin == 0, is_last=end == 24)
    return f"{count} rows"


def _write(path: str, rows: pa.Table, day: date, *, is_first: bool, is_last: bool) -> None:
    done = [Transaction(ROLLED_MARK, day.toordinal())] if is_last else None
    options: dict[str, Any] = {
        "mode": "overwrite" if is_first else "append",
        "commit_properties": CommitProperties(app_transactions=done),
        "post_commithook_properties": _HOOKS,
    }
    if is_first:
        options["predicate"] = f"day = '{day}'"
    write_deltalake(path, rows, **options)


def _read_buckets(engine: Any, day: date, begin: int, end: int) -> pa.Table:
    midnight = f"TIMESTAMP '{day}T00:00:00Z'"
    sql = (
        f"SELECT {', '.join(LAG_ROLLUPS.names)} FROM lag_history WHERE day = DATE '{day}' "
        f"AND bucket_at >= {midnight} + INTERVAL '{begin} hours' "
        f"AND bucket_at < {midnight} + INTERVAL '{end} hours' "
        f"ORDER BY {', '.join(LAG_ROLLUPS.key)}"
    )
    made = pa.table(engine.execute(sql).read_all())
    # Without the columns' comments, which are those of offset_lag.
    return made.cast(pa.schema([pa.field(field.name, field.type) for field in made.schema]))


def _build_engine(cluster: str, source: DeltaTable, day: date) -> Any:
    """DataFusion with only the rows of that day in offset_lag; the day before is rolled up."""
    held = (
        f"valid_from_at < TIMESTAMP '{day + timedelta(days=1)}T00:00:00Z' "
        f"AND (is_open OR closed_on >= DATE '{day}')"
    )
    nulls = ", ".join(
        f"NULL AS {name}" for name in LAG_ROLLUPS.names if name not in ("cluster", "day")
    )
    engine = reading.build_engine({"all_lag": [source]}, "")
    engine.execute(f"CREATE VIEW {SOURCE} AS SELECT * FROM all_lag WHERE {held}")
    engine.execute(
        f"CREATE VIEW {LAG_ROLLUPS.name} AS SELECT {reading.quote(cluster)} AS cluster, "
        f"DATE '{day - timedelta(days=1)}' AS day, {nulls}"
    )
    (view,) = (view for view in VIEWS if view.name == "lag_history")
    engine.execute(f"CREATE VIEW {view.name} AS {view.sql}")
    return engine


def _split_day(engine: Any) -> list[tuple[int, int]]:
    counted = pa.table(engine.execute(f"SELECT count(*) AS rows FROM {SOURCE}").read_all())
    if counted["rows"][0].as_py() <= _MOST_ROWS:
        return [(0, 24)]
    return [(hour, hour + 1) for hour in range(24)]
