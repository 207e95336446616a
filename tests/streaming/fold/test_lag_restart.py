"""The fold of lag begun anew at any partition of the log ends up as one that never stopped."""

from __future__ import annotations

import pytest

from streaming.fold.cluster_state import ClusterState
from streaming.fold.group_folds import GroupFolds
from streaming.fold.lag.fold import LagFold
from streaming.fold.row import Row
from tests.streaming.fold.driving import Contexts, Lake, Stop, find_contexts, follow, keep
from tests.streaming.fold.generated import generate
from tests.streaming.fold.recollecting import recollect
from zklake.events.envelope import Event

LENGTH = 80


def begin_anew(lake: Lake, events: list[Event], contexts: Contexts) -> GroupFolds:
    """From the lake; what log_ends does not hold yet is followed again."""
    seq, cluster_state = lake.seqs["log_ends"], ClusterState()
    past = [event for event in events if event.seq <= seq]
    follow(GroupFolds(cluster_state, ()), past, contexts)
    stop = Stop("c", cluster_state, lake.rows(), dict(lake.seqs), past)
    fold = LagFold.recall("c", None, cluster_state, recollect(stop))
    group_folds = GroupFolds(cluster_state, (fold,))
    follow(group_folds, [event for event in events if event.seq > seq], contexts)
    return group_folds


def finish(group_folds: GroupFolds, lake: Lake) -> dict[str, list[tuple[str, ...]]]:
    """All rows in the end, with what the fold remembers beside them."""
    lake.write(group_folds)
    lake.write(group_folds, idle=True)
    return {
        name: sorted(tuple(f"{column}={value}" for column, value in row.items()) for row in rows)
        for name, rows in lake.rows().items()
    }


@pytest.mark.parametrize("seed", [9, 34])
def test_at_every_cut_also_after_a_crash_between_two_tables(seed: int) -> None:
    events = keep(generate(seed, "c", LENGTH))
    contexts = find_contexts(events)
    whole = GroupFolds(ClusterState(), (LagFold("c"),))
    follow(whole, events, contexts)
    wanted = finish(whole, Lake(LagFold.tables))
    assert all(wanted.values())
    for cut in range(len(events)):
        group_folds, lake = GroupFolds(ClusterState(), (LagFold("c"),)), Lake(LagFold.tables)
        follow(group_folds, events[: cut // 2], contexts)
        lake.write(group_folds, idle=cut % 4 == 0)
        follow(group_folds, events[cut // 2 : cut], contexts)
        lake.write(group_folds, most=1 + cut % 3)
        group_folds = begin_anew(lake, events[:cut], contexts)
        follow(group_folds, events[cut:], contexts)
        assert finish(group_folds, lake) == wanted, f"cut at {cut}"


def test_a_marker_ahead_leaves_offset_lag_alone() -> None:
    events = keep(generate(1, "c", LENGTH))
    contexts = find_contexts(events)
    group_folds, lake = GroupFolds(ClusterState(), (LagFold("c"),)), Lake(LagFold.tables)
    follow(group_folds, events, contexts)
    lake.write(group_folds, most=2)
    assert lake.seqs["log_ends"] == -1 < lake.seqs["offset_lag"]
    rows: list[Row] = lake.rows()["offset_lag"]
    again = begin_anew(lake, events, contexts)
    assert set(again.take()) == {"log_ends"}
    assert lake.rows()["offset_lag"] == rows
