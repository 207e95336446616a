"""A log taken through the machines as the stream does it: cut anywhere, stopped and begun anew."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from streaming.fold.cluster import ClusterFold
from streaming.fold.context import Context
from streaming.fold.crew import Beginner, Crew
from streaming.fold.machine import Machine
from streaming.fold.standing import Standing
from streaming.log.continuity import Entry
from zklake.events.envelope import Event

Row = dict[str, Any]


class Stop(NamedTuple):
    """Where machines begin: what the lake holds, and all events up to there."""

    cluster: str
    standing: Standing
    rows: dict[str, list[Row]]
    seqs: dict[str, int]
    past: list[Event]


MakeMachine = Callable[[Stop], Machine]


Contexts = dict[int, Context]


class _Recorder:
    """Stands where the machines do, and remembers what they would be told."""

    def __init__(self) -> None:
        self.contexts: Contexts = {}

    def apply(self, event: Event, context: Context) -> None:
        self.contexts[event.seq] = context


def find_contexts(events: list[Event]) -> Contexts:
    """What the walk knows of each event of a log, with all its heartbeats, by seq."""
    fold, recorder = ClusterFold(events[0].cluster), _Recorder()
    fold.crew = recorder  # type: ignore[assignment]
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

    def write(self, crew: Crew, *, idle: bool = False, most: int = 9) -> None:
        """Commit what the machines say, or the first tables of it: a crash came between."""
        for table, taken in [*crew.take(idle=idle).items()][:most]:
            assert taken.seq >= self.seqs[table]
            self.open[table] = copy.deepcopy(taken.open_rows)
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
    """The tables after a log cut at random; with `stops`, the machine begins anew at some cuts."""
    cluster = events[0].cluster
    crew, lake = Crew(Standing(), [make(Stop(cluster, Standing(), {}, {}, []))]), Lake(tables)
    edges = sorted(dice.randint(0, len(events)) for _ in range(6))
    for first, last in pairwise([0, *edges, len(events)]):
        follow(crew, events[first:last], contexts)
        has_crashed = stops and dice.random() < 0.2
        if has_crashed or dice.random() < 0.8:
            lake.write(crew, idle=dice.random() < 0.2, most=1 if has_crashed else 9)
        if has_crashed or (stops and dice.random() < 0.4):
            crew = _begin_anew(cluster, events[:last], make, lake, contexts)
    lake.write(crew, idle=True)
    return lake.rows()


def _begin_anew(
    cluster: str, events: list[Event], make: MakeMachine, lake: Lake, contexts: Contexts
) -> Crew:
    """From what is written, as of the table that is behind."""
    seq = min(lake.seqs.values())
    past = [event for event in events if event.seq <= seq]
    rows, seqs = lake.rows(), dict(lake.seqs)
    beginner = Beginner(seq, lambda standing: make(Stop(cluster, standing, rows, seqs, past)))
    crew = Crew(Standing(), beginners=[beginner])
    follow(crew, events, contexts)
    return crew


def follow(crew: Crew, events: list[Event], contexts: Contexts) -> None:
    """Take events through the machines."""
    for event in events:
        crew.apply(event, contexts[event.seq])
