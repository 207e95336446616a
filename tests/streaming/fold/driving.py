"""A log taken through the folds of groups as the stream does: cut anywhere, stopped, begun anew."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from streaming.fold.cluster import ClusterFold
from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.group_fold import GroupFold
from streaming.fold.group_folds import GroupFolds, LateStart
from streaming.fold.lag.fold import LagFold
from streaming.log.continuity import Entry
from zklake.events.envelope import Event

Row = dict[str, Any]


class Stop(NamedTuple):
    """Where folds of groups begin: what the lake holds, and all events up to there."""

    cluster: str
    cluster_state: ClusterState
    rows: dict[str, list[Row]]
    seqs: dict[str, int]
    past: list[Event]


MakeMachine = Callable[[Stop], GroupFold]


Contexts = dict[int, Context]


class _Recorder(GroupFolds):
    """The folds of groups, that also remember what they are told."""

    def __init__(self) -> None:
        super().__init__(ClusterState(), [LagFold("c")])
        self.contexts: Contexts = {}

    def apply(self, event: Event, context: Context) -> None:
        self.contexts[event.seq] = context
        super().apply(event, context)


def find_contexts(events: list[Event]) -> Contexts:
    """What the walk knows of each event of a log, with all its heartbeats, by seq."""
    fold, recorder = ClusterFold(events[0].cluster), _Recorder()
    fold.group_folds = recorder
    fold.walk(Entry(event, 0) for event in events)
    fold.finish()
    return recorder.contexts


def keep(events: list[Event]) -> list[Event]:
    """What znode_events keeps: of each minute's heartbeats the first."""
    kept, last_minute = [], -1
    for event in events:
        minute = event.observed_at_ms // 60_000
        if event.op == "heartbeat":
            if minute <= last_minute:
                continue
            last_minute = minute
        kept.append(event)
    return kept


class Lake:
    """What the tables would hold."""

    def __init__(self, tables: Sequence[str]) -> None:
        self.closed: dict[str, list[Row]] = {table: [] for table in tables}
        self.open: dict[str, list[Row]] = {table: [] for table in tables}
        self.seqs = dict.fromkeys(tables, -1)

    def write(self, group_folds: GroupFolds, *, idle: bool = False, most: int = 9) -> None:
        """Commit what the folds of groups say, or the first tables of it: a crash came between."""
        for table, taken in [*group_folds.take(idle=idle).items()][:most]:
            assert taken.seq >= self.seqs[table]
            self.open[table] = [*copy.deepcopy(taken.open_rows)]
            self.closed[table] += copy.deepcopy(taken.ended_rows)
            self.seqs[table] = taken.seq

    def rows(self) -> dict[str, list[Row]]:
        """All rows, by table."""
        return copy.deepcopy({name: self.closed[name] + self.open[name] for name in self.open})


def stream(
    events: list[Event],
    contexts: Contexts,
    make: MakeMachine,
    tables: Sequence[str],
    dice: Random,
    *,
    stops: bool,
) -> dict[str, list[Row]]:
    """The tables after a log cut at random; with `stops`, the fold begins anew at some cuts."""
    cluster = events[0].cluster
    group_folds, lake = (
        GroupFolds(ClusterState(), [make(Stop(cluster, ClusterState(), {}, {}, []))]),
        Lake(tables),
    )
    edges = sorted(dice.randint(0, len(events)) for _ in range(6))
    for first, last in pairwise([0, *edges, len(events)]):
        follow(group_folds, events[first:last], contexts)
        has_crashed = stops and dice.random() < 0.2
        if has_crashed or dice.random() < 0.8:
            lake.write(group_folds, idle=dice.random() < 0.2, most=1 if has_crashed else 9)
        if has_crashed or (stops and dice.random() < 0.4):
            group_folds = _begin_anew(cluster, events[:last], make, lake, contexts)
    lake.write(group_folds, idle=True)
    return lake.rows()


def _begin_anew(
    cluster: str, events: list[Event], make: MakeMachine, lake: Lake, contexts: Contexts
) -> GroupFolds:
    """From what is written, as of the table that is behind; of one fold's that is the last."""
    seq = [*lake.seqs.values()][-1]
    past = [event for event in events if event.seq <= seq]
    rows, seqs = lake.rows(), dict(lake.seqs)
    late_start = LateStart(
        seq, lambda cluster_state: make(Stop(cluster, cluster_state, rows, seqs, past))
    )
    group_folds = GroupFolds(ClusterState(), late_starts=[late_start])
    follow(group_folds, events, contexts)
    return group_folds


def follow(group_folds: GroupFolds, events: list[Event], contexts: Contexts) -> None:
    """Take events through the folds of groups."""
    for event in events:
        group_folds.apply(event, contexts[event.seq])
