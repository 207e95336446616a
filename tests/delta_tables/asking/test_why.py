"""`explain` looks at a group's own rows only, and finds what the view finds among all."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from delta_tables.asking.lakes import Lake
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from delta_tables.asking.why import explain
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.views import VIEWS
from tests.delta_tables.lag_stories import STORIES
from tests.delta_tables.small_lake import write_lake
from tests.delta_tables.view_lake import state

CAUSES = ("broker_left", "consumer_stalled", "rebalance_storm")
ASKED = {
    name for view in VIEWS if view.name in ("root_cause", "group_lag_now") for name in view.inputs
}
TABLES = [TABLE_BY_NAME[name] for name in ASKED | {"consumer_offsets", "znode_events", "log_gaps"}]
TOLD = ("rank", "cause", "entity", "at", "evidence", "score", "source_table", "source_seq")
COMMIT = state(0, coordinator="zookeeper", group_id="g", topic="t", partition=0, committed_offset=5)
ASKED_AT = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)


def test_an_explanation_is_what_the_view_says(tmp_path: Path) -> None:
    lakes = [Lake(str(tmp_path), cause) for cause in CAUSES]
    for lake in lakes:
        tell, _ = STORIES[lake.cluster]
        write_lake(lake.path, lake.cluster, {"consumer_offsets": [COMMIT], **tell()}, TABLES)
    columns = ", ".join(("cluster", *TOLD))
    sql = f"SELECT {columns} FROM root_cause WHERE group_id = 'g' ORDER BY cluster, rank"
    with run_query(lakes, sql, Limits()) as answer:
        seen = [row for rows in answer for row in rows]
    found = [
        (one.cluster, *(asdict(cause)[name] for name in TOLD))
        for one in sorted(explain(lakes, "g", ASKED_AT, Limits()), key=lambda one: one.cluster)
        for cause in one.causes
    ]
    assert found == seen
    assert [row[2] for row in found if row[1] == 1] == [*CAUSES]
