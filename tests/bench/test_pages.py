"""The bench of the pages asks for times at which the lake holds something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.page_lakes import PageLake
from bench.pages import Plan, find_times, list_pages, measure_pages
from tests.aged import CLUSTER, copy_lake, read_table


def test_times_lie_within_the_lake(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    events = read_table(tmp_path, "znode_events")
    first, last = (
        datetime.fromtimestamp(end / 1000, UTC)
        for end in (events[0]["observed_at_ms"], events[-1]["observed_at_ms"])
    )
    start, end, moment = map(datetime.fromisoformat, find_times(str(tmp_path), CLUSTER))
    assert last - timedelta(seconds=1) < end <= last
    assert end - start == timedelta(hours=1)
    assert first < moment < last


def test_every_page_is_asked_warm_and_after_commits(tmp_path: Path) -> None:
    copy_lake(tmp_path)
    commits: list[int] = []
    lake = PageLake("aged", str(tmp_path), CLUSTER, "group-0", "topic-0", lambda: commits.append(1))
    found = measure_pages(lake, Plan(commits=2, warm=1))
    names = [name for name, _ in list_pages("g", "t", find_times(str(tmp_path), CLUSTER))]
    told = {figure.name for figure in found}
    for name in names:
        assert {f"aged: {name}, {when}, 95%" for when in ("warm", "after a commit")} <= told
    assert sum("is made, " in name for name in told) == 2
    assert len(commits) == 2 + 3
    assert all(figure.values for figure in found)
