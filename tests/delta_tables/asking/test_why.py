"""`explain` looks at a group's own rows only, and finds what the view finds among all."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest

from delta_tables.asking.lakes import Lake
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from delta_tables.asking.why import RiseFilter, explain
from tests.incidents.folded import CLUSTER, fold_lake
from tests.incidents.incidents import BAD_S
from tests.incidents.simulation import BIRTH_MS, GROUP, Simulation
from zklake.errors import QueryError

COLUMNS = (
    *(
        "rise_from",
        "rise_to",
        "lag_before",
        "lag_after",
        "added",
        "peak_lag",
        "rank",
        "cause",
        "entity",
    ),
    *("records", "share", "began_at", "ended_at", "partitions", "source_table", "source_seq"),
)
BORN = datetime.fromtimestamp(BIRTH_MS / 1000, UTC)
# Two bursts, the second of which is larger, and a killed owner with it.
ACTS = [
    (BAD_S, lambda s: s.produce(40)),
    (BAD_S + 30, lambda s: s.produce(10)),
    (BAD_S + 400, lambda s: s.produce(80)),
    (BAD_S + 420, lambda s: s.readers.kill("b")),
    (BAD_S + 430, lambda s: s.produce(10)),
]
SECONDS = BAD_S + 900
# Beyond the few records that are on their way when the log begins.
LEAST = 500


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> list[Lake]:
    path = tmp_path_factory.mktemp("lake")
    return [Lake(fold_lake(path, Simulation().run(SECONDS, ACTS)), CLUSTER)]


def test_an_explanation_is_what_the_view_says(lakes: list[Lake]) -> None:
    wanted = f"SELECT {', '.join(COLUMNS)} FROM root_cause WHERE added >= {LEAST}"
    sql = f"{wanted} ORDER BY rise_from, rank"
    with run_query(lakes, sql, Limits()) as answer:
        seen = [tuple(row) for rows in answer for row in rows]
    at = BORN + timedelta(seconds=SECONDS)
    (one,) = explain(lakes, RiseFilter(GROUP, at, LEAST), Limits())
    found = [
        tuple((asdict(rise) | asdict(cause))[name] for name in COLUMNS)
        for rise in one.rises
        for cause in rise.causes
    ]
    assert found == seen
    assert len(one.rises) == 2


def test_the_largest_rise_is_explained_unless_another_is_chosen(lakes: list[Lake]) -> None:
    at = BORN + timedelta(seconds=SECONDS)
    (one,) = explain(lakes, RiseFilter(GROUP, at, LEAST), Limits())
    first, second = one.rises
    assert one.chosen is second
    assert second.added > first.added
    assert {cause.cause for cause in second.causes} >= {"producers_faster", "owner_crashed"}
    (other,) = explain(lakes, RiseFilter(GROUP, at, LEAST, 1), Limits())
    assert other.chosen == other.rises[0]
    # Only what is explained has the rows behind it.
    assert all(cause.rows for cause in other.chosen.causes[:3] if cause.source_table)
    assert not any(cause.rows for cause in other.rises[1].causes)
    with pytest.raises(QueryError, match="no rise 3: there are 2"):
        explain(lakes, RiseFilter(GROUP, at, LEAST, 3), Limits())


def test_rises_below_the_threshold_are_left_out(lakes: list[Lake]) -> None:
    at = BORN + timedelta(seconds=SECONDS)
    (one,) = explain(lakes, RiseFilter(GROUP, at, LEAST), Limits())
    least = one.rises[0].added + 1
    (other,) = explain(lakes, RiseFilter(GROUP, at, least=least), Limits())
    assert other.rises == other.rises[-1:] == [other.chosen]
