"""Every view: a question, a query that may be asked, known columns, one lake or several."""

from __future__ import annotations

from pathlib import Path

import pytest

from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.lakes import Lake
from delta_tables.querying import check_query, list_columns
from delta_tables.reading import build_engine, open_named, run_sql
from delta_tables.views import VIEWS, View
from tests.delta_tables.empty_lake import make_empty_lake

by_name = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> list[Lake]:
    """Two clusters, so that every table is a union."""
    path = str(tmp_path_factory.mktemp("lake"))
    inputs = sorted({name for view in VIEWS for name in view.inputs})
    for cluster in ("a", "b"):
        make_empty_lake(path, cluster, [TABLE_BY_NAME[name] for name in inputs])
    return [Lake(path, "a"), Lake(path, "b")]


@by_name
def test_a_view_names_its_columns_and_plans_over_several_lakes(
    view: View, lakes: list[Lake]
) -> None:
    sql = f"SELECT * FROM {view.name}"
    engine = build_engine(open_named(lakes, [view.name]), sql)
    names, rows = next(run_sql(engine, sql))
    assert names == [column.name for column in list_columns(view.sql)]
    assert names[0] == "cluster"
    assert rows == [[]] * len(names)


@by_name
def test_a_view_reads_what_it_says_and_nothing_that_a_question_may_not(view: View) -> None:
    assert check_query(view.sql, TABLE_BY_NAME).names == sorted(view.inputs)
    assert view.says.endswith("?")


def test_views_are_files_and_files_are_views() -> None:
    files = (Path(__file__).parents[2] / "delta_tables" / "views").glob("*.sql")
    assert sorted(file.stem for file in files) == sorted(view.name for view in VIEWS)
