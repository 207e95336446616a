from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from delta_tables.live.tables import Row, Tables
from delta_tables.reading import table_path
from tests.dashboard.story_lake import CLUSTER, tell_news, write_story

_COUNT = "SELECT count(*) AS members FROM consumer_membership"


def test_commits_whose_log_was_cleaned_away_are_news(tmp_path: Path) -> None:
    write_story(str(tmp_path), groups=1)
    tables = Tables(str(tmp_path), CLUSTER, look_every_s=0)
    seen = tables.look()["consumer_membership"]
    (before,) = tables.query(_COUNT, "consumer_membership")
    for _ in range(3):
        tell_news(str(tmp_path), "billing")
    _clean_log(Path(table_path(str(tmp_path), CLUSTER, "consumer_membership")), seen + 1)
    assert tables.look()["consumer_membership"] == seen + 3
    (after,) = tables.query(_COUNT, "consumer_membership")
    assert after["members"] == before["members"] + 3


def _clean_log(table: Path, gone: int) -> None:
    """As maintenance does it some hours later, without the file of that version then."""
    delta, old = DeltaTable(table), time.time() - 40 * 86_400
    delta.create_checkpoint()
    for file in (table / "_delta_log").iterdir():
        os.utime(file, (old, old))
    delta.cleanup_metadata()
    assert not (table / "_delta_log" / f"{gone:020}.json").exists()


def test_a_table_that_goes_while_it_is_asked_has_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_story(str(tmp_path), groups=1)
    tables, run = Tables(str(tmp_path), CLUSTER), Tables._run
    assert tables.look(anew=True)["topics"]

    def lose_and_run(self: Tables, *asked: Any) -> list[Row]:
        Path(table_path(str(tmp_path), CLUSTER, "topics")).rename(tmp_path / "gone")
        self.look(anew=True)
        return run(self, *asked)

    monkeypatch.setattr(Tables, "_run", lose_and_run)
    assert tables.query("SELECT topic FROM topics", "topics") == []
    assert tables.list_states("topics") == ()
