"""A lake's tables beside those of the reference fold, row by row."""

from __future__ import annotations

from typing import Any

from delta_tables.catalog import TABLES
from tests.e2e.lake_past import read_table
from tests.e2e.theatre import THRESHOLDS
from tests.reference.fold.lag_status import Limits
from tests.reference.fold.offset_lag import fold_lag
from tests.reference.fold.presence import follow
from tests.reference.fold.tables import Tables
from tests.streaming.fold import test_group_law as group_law
from tests.streaming.fold.driving import keep
from tests.streaming.fold.test_law import NAMES, make_plain, sort_rows
from zklake.events.envelope import Event

_LIMITS = Limits(
    THRESHOLDS.stalled_after_ms // 1000,
    THRESHOLDS.warn_after_ms // 1000,
    THRESHOLDS.unowned_after_ms // 1000,
    THRESHOLDS.abandoned_after_ms // 1000,
    THRESHOLDS.point_ms / 1000,
)


def find_differences(cluster: str, lake: str, wanted: Tables) -> list[Any]:
    """By table, the first row that is not the reference's: what there is, what there should be."""
    found: list[Any] = []
    for name in NAMES:
        rows = read_table(lake, cluster, name)
        got, right = (sort_rows(side).get(cluster, []) for side in (rows, wanted[name]))
        pairs = zip(got, right, strict=False)
        differing = [pair for pair in pairs if pair[0] != pair[1]]
        if len(got) != len(right) or differing:
            found.append((name, len(got), len(right), differing[:1]))
    return found


def find_lag_differences(cluster: str, lake: str, log: list[Event]) -> dict[str, str]:
    """By table of lags, the first row that is not the reference's."""
    wanted = fold_lag(follow(keep(log), group_law.find_session_closes(log)), _LIMITS)
    found = {}
    for name, right in wanted.items():
        rows = read_table(lake, cluster, name)
        plain = [{column: make_plain(value) for column, value in row.items()} for row in rows]
        sides = group_law.sort_rows(plain), group_law.sort_rows(right)
        if said := group_law.explain(*sides):
            found[name] = said
    return found


def read_group_tables(cluster: str, lake: str) -> dict[str, Any]:
    """As they are, to be compared with a rebuild."""
    names = [table.name for table in TABLES if table.folded == "groups"]
    return {name: sort_rows(read_table(lake, cluster, name)) for name in names}
