"""Every view: a question, a query that may be asked, known columns, one lake or several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from delta_tables.asking.lakes import Lake
from delta_tables.asking.querying import check_query, list_columns
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import build_engine, open_named, run_sql
from delta_tables.views import VIEWS, View
from tests.delta_tables.colliding_rows import tell_first, tell_second
from tests.delta_tables.empty_lake import make_empty_lake
from tests.delta_tables.small_lake import write_lake

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
    before = VIEWS[: VIEWS.index(view)]
    known = {*TABLE_BY_NAME, *(one.name for one in before)}
    assert check_query(view.sql, known).names == sorted(view.sources)
    assert set(view.inputs) <= TABLE_BY_NAME.keys()
    assert view.says.endswith("?")


@pytest.fixture(scope="module")
def colliding(tmp_path_factory: pytest.TempPathFactory) -> list[Lake]:
    """Two clusters with the same groups, topics, brokers and seqs, of which other things are so."""
    path = str(tmp_path_factory.mktemp("colliding"))
    tables = [TABLE_BY_NAME[name] for name in {name for view in VIEWS for name in view.inputs}]
    write_lake(path, "a", tell_first(), tables)
    write_lake(path, "b", tell_second(), tables)
    return [Lake(path, "a"), Lake(path, "b")]


def ask(view: View, lakes: list[Lake]) -> list[tuple[Any, ...]]:
    """All rows, in a certain order; it is always the same hour."""
    sql = view.sql.replace("now()", "TIMESTAMP '2026-11-16T05:00:00Z'")
    engine = build_engine(open_named(lakes, view.inputs), sql)
    return sorted(
        (row for _, some in run_sql(engine, sql) for row in zip(*some, strict=True)), key=repr
    )


@by_name
def test_clusters_that_share_every_name_are_told_apart(view: View, colliding: list[Lake]) -> None:
    first, second = (ask(view, [lake]) for lake in colliding)
    assert first
    assert second
    assert [row[1:] for row in first] != [row[1:] for row in second]
    assert ask(view, colliding) == sorted([*first, *second], key=repr)


def test_views_are_files_and_files_are_views() -> None:
    files = (Path(__file__).parents[2] / "delta_tables" / "views").glob("*.sql")
    assert sorted(file.stem for file in files) == sorted(view.name for view in VIEWS)
