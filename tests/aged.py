"""Aged lakes for tests, made once for a run of pytest."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.aged_lake import Size, World, age_lake
from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME, TABLES

CLUSTER = "kafka"
# Ten days, so that something is older than a week; sixty commits on the last one.
TINY = Size(
    days=10,
    beats=60,
    slots=6,
    commits=60,
    files=2,
    brokers=3,
    topics=2,
    partitions=2,
    groups=2,
    members=2,
)
Row = dict[str, Any]


@functools.cache
def _make() -> tuple[Path, World]:
    place = Path(tempfile.mkdtemp(prefix="zklake-aged-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    # It must lie in the past by whatever clock: only then something in it is old.
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    return place, age_lake(place, CLUSTER, TINY, last_day=yesterday)


def copy_lake(place: Path) -> World:
    """A lake of one's own."""
    made, world = _make()
    shutil.copytree(made / CLUSTER, place / CLUSTER)
    return world


def read_table(lake: Path, name: str) -> list[Row]:
    """Rows of a table in the order of the log."""
    table = reading.open_table(str(lake), CLUSTER, name)
    assert table is not None
    described = TABLE_BY_NAME[name]
    order = "valid_from_seq" if described.is_interval else ", ".join(described.key)
    return reading.query_rows({name: table}, f"SELECT * FROM {name} ORDER BY {order}")


def read_all(lake: Path) -> dict[str, list[Row]]:
    return {table.name: read_table(lake, table.name) for table in TABLES}


def list_files(lake: Path) -> dict[str, tuple[int, int]]:
    """Every file with its size and time."""
    return {
        str(path.relative_to(lake)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(lake.rglob("*"))
        if path.is_file()
    }
