"""What Delta's log says about a file, so that readers can pass over it: counts, smallest, largest.

Taken from the Parquet footer; only for columns of which it says both bounds, and says them briefly.
"""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
import pyarrow.parquet as pq

# As long as Spark keeps them; a longer largest value would have to be rounded up.
_LONGEST = 32


def make_stats(file: pq.FileMetaData) -> str:
    """The stats of an `add` action."""
    smallest: dict[str, Any] = {}
    largest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for group in (file.row_group(number) for number in range(file.num_row_groups)):
        for column in (group.column(number) for number in range(group.num_columns)):
            name, stats = column.path_in_schema, column.statistics
            if stats is None or "." in name:
                continue
            nulls[name] = nulls.get(name, 0) + (stats.null_count or 0)
            if stats.has_min_max:
                smallest[name] = min(stats.min, smallest.get(name, stats.min))
                largest[name] = max(stats.max, largest.get(name, stats.max))
    kept = [name for name in smallest if _is_brief(smallest[name]) and _is_brief(largest[name])]
    stats = {
        "numRecords": file.num_rows,
        "minValues": {name: _write(smallest[name]) for name in kept},
        "maxValues": {name: _write(largest[name]) for name in kept},
        "nullCount": nulls,
    }
    return msgspec.json.encode(stats).decode()


def _is_brief(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return isinstance(value, int | datetime.datetime) and not isinstance(value, bool)


def _write(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return (
            value.astimezone(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        )
    return value
