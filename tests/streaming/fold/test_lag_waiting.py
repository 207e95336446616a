"""Commits that wait for a round: so many that not all of them can be kept."""

from __future__ import annotations

import pytest

from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.group_folds import GroupFolds
from streaming.fold.lag.commits import MOST_WAITING
from streaming.fold.lag.fold import LagFold
from tests.streaming.fold.driving import Lake, follow
from tests.streaming.fold.lag_log import LagLog, working
from tests.streaming.fold.test_lag_restart import begin_anew, finish

PER_S = 20


def commit_fast(log: LagLog, from_s: float, to_s: float) -> int:
    """A commit every 50 ms, each of one record more; the last offset."""
    offset = 0
    for tick in range(round(from_s * PER_S), round(to_s * PER_S)):
        offset = 100 + tick
        log.at(tick / PER_S).offset("g", offset)
    return offset


@pytest.mark.parametrize(("took_s", "most_lag"), [(0, 0), (0.3, 0), (1, PER_S), (7, PER_S)])
def test_a_group_that_commits_while_brokers_are_asked_is_not_frozen(
    took_s: float, most_lag: int
) -> None:
    log = working()
    for at_s in range(10, 300, 10):
        end = commit_fast(log, at_s - 10, at_s - took_s)
        asked = log.seq
        commit_fast(log, at_s - took_s, at_s)
        log.at(at_s).round({"t": end}, after=asked)
        row = log.lag()
        # What counts came before the brokers were asked, and not more than a second before.
        assert 0 <= row["raw_lag"] <= most_lag
        assert row["status"] == "OK"


def test_a_restart_anywhere_changes_nothing() -> None:
    log = working()
    for at_s in (2, 4, 6):
        end = commit_fast(log, at_s - 2, at_s - 1)
        asked = log.seq
        commit_fast(log, at_s - 1, at_s + 0.5)
        log.at(at_s + 0.5).round({"t": end}, after=asked)
    contexts = {event.seq: Context() for event in log.events}
    whole = GroupFolds(ClusterState(), (LagFold("c"),))
    follow(whole, log.events, contexts)
    wanted = finish(whole, Lake(LagFold.tables))
    for cut in range(len(log.events)):
        group_folds, lake = GroupFolds(ClusterState(), (LagFold("c"),)), Lake(LagFold.tables)
        follow(group_folds, log.events[:cut], contexts)
        lake.write(group_folds)
        group_folds = begin_anew(lake, log.events[:cut], contexts)
        follow(group_folds, log.events[cut:], contexts)
        assert finish(group_folds, lake) == wanted, f"cut at {cut}"


def test_what_waits_is_bounded() -> None:
    log = working()
    commit_fast(log, 0, 100)
    (group_partition,) = log.fold._group_partitions
    assert len(group_partition.waiting) == MOST_WAITING


def test_of_what_waits_before_the_first_round_only_the_last_is_kept() -> None:
    log = LagLog()
    log.topic("t")
    commit_fast(log, 0, 10)
    (group_partition,) = log.fold._group_partitions
    assert [commit.offset for commit in group_partition.waiting] == [100 + 10 * PER_S - 1]
