"""root_cause names the true cause first, and shows what it knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from delta_tables.reading import open_tables, query_rows
from tests.delta_tables.lag_stories import STORIES, tell_lag, tell_member_crash
from tests.delta_tables.view_lake import ask, at, lag_row

SQL = "SELECT * FROM root_cause ORDER BY rise_from, rank"


@pytest.mark.parametrize("cause", STORIES)
def test_the_true_cause_stands_first(tmp_path: Path, cause: str) -> None:
    tell, entity = STORIES[cause]
    found = ask(tmp_path, tell(), SQL)
    assert {(row["group_id"], row["rise_from"]) for row in found} == {("g", at(9.9))}
    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    first = found[0]
    assert (first["cause"], first["entity"]) == (cause, entity), found
    assert (first["lag_before"], first["lag_after"]) == (20, 20 + first["added"])
    assert len([row for row in found if row["cause"] in ("producer", "consumers_slowed")]) == 1
    if first["source_table"]:
        tables = open_tables(str(tmp_path), "c")
        seq = first["source_seq"]
        behind = (
            f"SELECT * FROM {first['source_table']} WHERE {seq} IN (valid_from_seq, valid_to_seq)"
        )
        assert query_rows(tables, behind)


def test_evidence_and_effects_follow(tmp_path: Path) -> None:
    found = ask(tmp_path, tell_member_crash(), SQL)
    assert [row["cause"] for row in found[:3]] == ["member_lost", "rebalance", "rebalance"]
    assert found[0]["evidence"] == "it left (session_closed)"
    assert found[0]["at"] == at(10.3)
    assert found[1]["evidence"] == "session_expired (g_b), settled, 1 partitions moved"
    assert found[0]["added"] == 600


def test_a_calm_group_has_no_rise(tmp_path: Path) -> None:
    calm = tell_lag(consumed=lambda minute: 130)
    unknown = [lag_row(3, 4, lag=None, group_id="dark"), lag_row(4, 5, lag=900, group_id="dark")]
    gone = lag_row(0, 2, ended_by="deleted", lag=5, partition=9)
    assert ask(tmp_path, {"offset_lag": [*calm, *unknown, gone]}, SQL) == []


def test_groups_do_not_share_what_is_their_own(tmp_path: Path) -> None:
    rows = dict(tell_member_crash())
    other = [row | {"group_id": "h"} for row in tell_lag()]
    found = ask(tmp_path, {**rows, "offset_lag": [*rows["offset_lag"], *other]}, SQL)
    causes = {row["group_id"]: row["cause"] for row in found if row["rank"] == 1}
    assert causes == {"g": "member_lost", "h": "consumers_slowed"}


@pytest.mark.parametrize("unknown", [False, True])
def test_lag_that_was_taken_back_is_not_taken_back_again(tmp_path: Path, unknown: bool) -> None:
    """A partition goes at minute 5, with 1000 to read, and comes back; its neighbour rises."""
    rises = tell_lag(consumed=lambda minute: 130 if minute < 10 else 0)
    gone = [
        row
        | {"partition": 9, "lag": 1000, "committed_offset": row["committed_offset"] - 990}
        | {"ended_by": "deleted" if minute == 5 else "changed"}
        for minute, row in enumerate(rises[:6])
    ]
    if unknown:
        gone[-1] |= {"lag": None}
    back = lag_row(7, lag=5, partition=9, log_end_offset=20_000, committed_offset=19_995)
    found = ask(tmp_path, {"offset_lag": [*rises, *gone, back]}, SQL)
    assert {(row["rise_from"], row["lag_before"]) for row in found} == {(at(9.9), 25)}
