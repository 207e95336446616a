"""The bench of the pages asks for times at which the lake holds something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench import pages
from bench.pages import find_times, list_pages, measure_pages
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


def test_every_page_is_asked_and_commits_come_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_lake(tmp_path)
    monkeypatch.setattr(pages, "_REQUESTS", 4)
    monkeypatch.setattr(pages, "_COMMIT_EVERY", 2)
    commits: list[int] = []
    found = measure_pages(
        str(tmp_path), CLUSTER, "group-0", "topic-0", commit=lambda: commits.append(1)
    )
    names = [name for name, _ in list_pages("g", "t", find_times(str(tmp_path), CLUSTER))]
    assert len(found) == len(names) + 1
    assert len(commits) == 2 * len(names)
    assert all(figure.values for figure in found)
