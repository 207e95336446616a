"""offset_lag and log_ends beyond their last hours: one row a minute. Without Spark.

Rows that lasted less than a minute and ended in the same one become one, if they follow on each
other within the same five minutes and differ in numbers only: the first, until the end of the last,
with least, most, mean and last. By when rows end, not by when they begin: an hour that is over has
all of its rows, and a day's lie in one partition. So it does not matter when, nor how often, it is
done. The five minutes are those of lag_history, which reads the same before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
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
from delta_tables.table import Table
from streaming.maintenance.plan import MaintenanceStep

# Columns that show how a row ended, or when it was last seen.
_LAST = (
    "seen_seq",
    "valid_to_seq",
    "valid_to_zxid",
    "valid_to_at",
    "valid_to_at_min",
    "is_clamped",
    "ended_by",
)
_MINUTES_AT_ONCE = 10
_HOOKS = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
# Under this Delta transaction id a table says which hour (since 1970) is the last that was thinned.
THINNED_MARK = "zklake.thinned"


def _write_last(*names: str) -> dict[str, str]:
    """Columns of the end of a row; a row of an older layout holds one point."""
    return {
        f"{name}_last": f"last_value(coalesce({name}_last, {name}) ORDER BY valid_from_seq)"
        for name in names
    }


def _write_same(*names: str) -> str:
    """SQL: whether a row has the values of the row before it."""
    return " AND ".join(f"({name} IS NOT DISTINCT FROM lag({name}) OVER same)" for name in names)


_LASTED = "CAST(valid_to_at - valid_from_at AS BIGINT)"
# By table: how each column that is not the first row's comes to be.
_MADE: Mapping[str, Mapping[str, str]] = {
    "offset_lag": {
        **_write_last("lag", "lag_seconds", "committed_offset", "committed_at", "log_end_offset"),
        **_write_last("velocity"),
        "sampled_at": "last_value(sampled_at ORDER BY valid_from_seq)",
        "lag_min": "min(coalesce(lag_min, lag))",
        "lag_max": "max(coalesce(lag_max, lag))",
        "lag_mean": f"coalesce(sum(coalesce(lag_mean, lag) * {_LASTED}) / nullif(sum({_LASTED}), 0)"
        ", avg(coalesce(lag_mean, lag)))",
        "lag_seconds_min": "min(coalesce(lag_seconds_min, lag_seconds))",
        "lag_seconds_max": "max(coalesce(lag_seconds_max, lag_seconds))",
        "points": "CAST(sum(coalesce(points, 1)) AS INT)",
    },
    "log_ends": {
        **_write_last("log_start_offset", "log_end_offset", "sampled_at", "confirmed_at"),
        # How long the first end held, also in rows that changed something else.
        "confirmed_at": "max(confirmed_at) "
        "FILTER (WHERE log_end_offset IS NOT DISTINCT FROM first_end)",
    },
}
_SAME = {
    "offset_lag": f"{_write_same('status', 'owner', 'incarnation', 'reason')} "
    "AND (lag_seconds IS NULL) = (lag(lag_seconds) OVER same IS NULL)",
    # A log that went back begins anew.
    "log_ends": f"{_write_same('broker_id', 'incarnation', 'error')} "
    "AND log_end_offset >= lag(coalesce(log_end_offset_last, log_end_offset)) OVER same",
}
THINNED = tuple(_MADE)


def plan_thinning(table: Table, delta: DeltaTable, until: datetime) -> list[MaintenanceStep]:
    """A step for every hour up to then that has rows, and is not thinned yet, oldest first."""
    mark = delta.transaction_version(THINNED_MARK) or 0
    since, last = _read_hour(mark + 1), _read_hour(int(until.timestamp()) // 3600)
    sql = (
        f"SELECT DISTINCT date_trunc('hour', valid_to_at) AS hour FROM {table.name} "
        f"WHERE NOT is_open AND closed_on >= DATE '{since.date()}' "
        f"AND valid_to_at >= {_write_time(since)} AND valid_to_at < {_write_time(last)} "
        f"AND {_find_marked(table)} IS NOT NULL ORDER BY hour"
    )
    hours = [row["hour"] for row in reading.query_rows({table.name: delta}, sql)]
    return [
        MaintenanceStep(table.name, "thin", f"{hour:%Y-%m-%d %H} h", (("hour", hour),))
        for hour in hours
    ]


def thin(table: Table, delta: DeltaTable, hour: datetime) -> str:
    """Do one hour, in one commit; returns what came of it, in a few words."""
    engine = reading.build_engine({table.name: [delta]}, "")
    end = hour + timedelta(hours=1)
    where = _write_where(hour, end)
    count = f"SELECT count(*) AS rows FROM {table.name} WHERE {where}"
    before = pa.table(engine.execute(count).read_all())["rows"][0].as_py()
    thinned = pa.concat_tables(_read(engine, table, hour, _find_schema(delta)))
    mark = Transaction(THINNED_MARK, int(hour.timestamp()) // 3600)
    options: dict[str, Any] = {
        "commit_properties": CommitProperties(app_transactions=[mark]),
        "post_commithook_properties": _HOOKS,
    }
    if thinned.num_rows == before:
        # Nothing to merge: only that it was looked at.
        write_deltalake(delta, thinned.slice(0, 0), mode="append", **options)
    else:
        write_deltalake(delta, thinned, mode="overwrite", predicate=where, **options)
    return f"{before} rows became {thinned.num_rows}"


def _read(engine: Any, table: Table, hour: datetime, schema: pa.Schema) -> Iterator[pa.Table]:
    """The hour's rows, thinned, some minutes at a time: no run of rows is longer than one."""
    for minute in range(0, 60, _MINUTES_AT_ONCE):
        begin = hour + timedelta(minutes=minute)
        end = begin + timedelta(minutes=_MINUTES_AT_ONCE)
        found = pa.table(engine.execute(write_thinned(table, begin, end)).read_all())
        yield found.select(schema.names).cast(schema)


def write_thinned(table: Table, begin: datetime, end: datetime) -> str:
    """SQL for the rows that ended between two minutes, as they are kept."""
    made = {name: f"last_value({name} ORDER BY valid_from_seq)" for name in _LAST}
    made |= _MADE[table.name]
    chosen = ", ".join(
        name
        if name in table.key
        else f"{made.get(name, f'first_value({name} ORDER BY valid_from_seq)')} AS {name}"
        for name in table.names
    )
    key = ", ".join(table.key)
    return f"""
WITH marked AS (
  SELECT *, CASE WHEN lag(ended_by) OVER same = 'changed'
    AND lag(valid_to_seq) OVER same = valid_from_seq
    AND date_trunc('minute', lag(valid_to_at) OVER same) = date_trunc('minute', valid_to_at)
    AND lag({_LASTED}) OVER same < {60 * 10**6}
    AND date_bin(INTERVAL '5 minutes', lag(valid_from_at) OVER same)
      = date_bin(INTERVAL '5 minutes', valid_to_at)
    AND {_SAME[table.name]} THEN 0 ELSE 1 END AS begins
  FROM {table.name}
  WHERE {_write_where(begin, end)}
  WINDOW same AS (PARTITION BY {key} ORDER BY valid_from_seq)
), numbered AS (
  SELECT *, sum(begins) OVER (PARTITION BY {key} ORDER BY valid_from_seq) AS run FROM marked
), runs AS (
  SELECT *, first_value({_find_end(table)}) OVER (
    PARTITION BY {key}, run ORDER BY valid_from_seq) AS first_end
  FROM numbered
)
SELECT {chosen} FROM runs GROUP BY {key}, run ORDER BY {key}, valid_to_seq
"""


def _find_end(table: Table) -> str:
    return "log_end_offset" if "log_end_offset" in table.names else "NULL"


def _find_marked(table: Table) -> str:
    """A column that rows of an older layout lack: those had one row a minute from the start."""
    return next(name for name in table.names if name in ("points", "confirmed_at_last"))


def _find_schema(delta: DeltaTable) -> pa.Schema:
    fields = pa.schema(delta.schema().to_arrow())
    return pa.schema([pa.field(field.name, field.type) for field in fields])


def _write_where(begin: datetime, end: datetime) -> str:
    return (
        f"is_open = false AND closed_on = '{begin.date()}' "
        f"AND valid_to_at >= {_write_time(begin)} AND valid_to_at < {_write_time(end)}"
    )


def _write_time(at: datetime) -> str:
    # Of the columns' own type: deltalake compares files' statistics with nothing else.
    return (
        f"arrow_cast('{at.astimezone(UTC).isoformat()}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    )


def _read_hour(number: int) -> datetime:
    return datetime.fromtimestamp(3600 * number, UTC)
