"""One batch made ready for the tables: what the driver learns by following its few special events.

Sessions that ended, frames that close, gaps, controllers: all that compares two paths or two
moments is settled here, in plain Python, and handed to the SQL of the tables as columns of the
events. The result depends only on the order of events, never on how they were cut into batches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from pyspark.sql import DataFrame

from delta_tables.table import Table
from streaming.annotations import Range, annotate, annotate_inputs, rewrite_odd
from streaming.frames import Closure, Frames
from streaming.intervals import fold
from streaming.machines.crew import Crew
from streaming.machines.registry import Rules, make_crew
from streaming.marks import closes
from streaming.rounds import Rounds
from streaming.sessions import Sessions
from streaming.steps.folding import StepState, fold_steps, make_states
from streaming.steps.row import Row
from streaming.steps.surroundings import Place, Surroundings
from streaming.summary import Summary
from zklake.events.envelope import Event


@dataclass
class Memory:
    """What the driver remembers between batches; all of it can be read back from the lake."""

    sessions: dict[str, Sessions] = field(default_factory=dict)
    frames: dict[str, Frames] = field(default_factory=dict)
    rounds: dict[str, Rounds] = field(default_factory=dict)
    steps: dict[str, StepState] = field(default_factory=make_states)
    crews: dict[str, Crew] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)

    def find_crew(self, cluster: str) -> Crew:
        """Of a cluster that nothing is known of, a new one."""
        if cluster not in self.crews:
            self.crews[cluster] = make_crew(cluster, self.rules)
        return self.crews[cluster]


@dataclass(frozen=True)
class Turn:
    """A batch, ready: annotated events up to where it may be folded, and what it closes."""

    events: DataFrame
    closures: tuple[Closure, ...]
    # Events that must wait for the next batch, by cluster: from which seq on.
    cuts: dict[str, int]
    step_rows: dict[str, list[Row]]
    # What happened, of that which the driver follows.
    ops: frozenset[str]


def prepare(
    memory: Memory,
    events: DataFrame,
    summary: Summary,
    *,
    final: bool,
    breaks: Mapping[str, Collection[int]] | None = None,
) -> Turn:
    """Follow the batch's special events; `events` are its good records.

    `breaks`: see Sessions.follow; by cluster, for a log without its heartbeats.
    """
    closures = _follow_frames(memory, summary.followed)
    ranges, cuts = _follow_sessions(memory, summary, closures, final, breaks)
    followed = [e for e in summary.followed if e.seq < cuts.get(e.cluster, e.seq + 1)]
    around = Surroundings(_find_session_closes(followed, ranges), closures)
    step_rows, around = fold_steps(memory.steps, followed, around)
    for cluster, events_of in groupby(followed, key=lambda event: event.cluster):
        memory.find_crew(cluster).follow(events_of, around)
    annotated = annotate(_cut(events, cuts), "is_session_close", "BOOLEAN", ranges, "false")
    gap_ranges = [Range(b.cluster, b.first_seq, b.last_seq, b.from_ms) for b in around.blindness]
    annotated = annotate(annotated, "gap_from_ms", "BIGINT", gap_ranges)
    if cuts or ranges or gap_ranges:
        # Once, not once more in the plan of every table.
        annotated = annotated.localCheckpoint()
    return Turn(
        events=annotated,
        closures=(*around.closures.values(), *_follow_rounds(memory, followed)),
        ops=frozenset(event.op for event in followed),
        cuts=cuts,
        step_rows=step_rows,
    )


def fold_table(
    table: Table, open_rows: DataFrame, turn: Turn, odd: dict[str, int], after_seq: int = -1
) -> DataFrame:
    """The table's rows after this turn, held in memory; events up to `after_seq` are in it."""
    news = turn.events.where(f"seq > {after_seq}")
    news = rewrite_odd(table, news, odd[table.name])
    news = annotate_inputs(table, news, turn.step_rows)
    closures = [c for c in turn.closures if c.end_seq > after_seq and closes(table, c)]
    has_samples = table.samples is not None and table.samples.op in turn.ops
    return fold(table, open_rows, news, closures, has_samples=has_samples).localCheckpoint()


def _follow_frames(memory: Memory, followed: Iterable[Event]) -> dict[tuple[str, int], Closure]:
    closures = {}
    for event in followed:
        closure = memory.frames.setdefault(event.cluster, Frames()).follow(event)
        if closure is not None:
            closures[event.cluster, event.seq] = closure
    return closures


def _follow_rounds(memory: Memory, followed: Iterable[Event]) -> list[Closure]:
    closures = (
        memory.rounds.setdefault(event.cluster, Rounds()).follow(event)
        for event in followed
        if event.op == "log_ends"
    )
    return [closure for closure in closures if closure is not None]


def _follow_sessions(
    memory: Memory,
    summary: Summary,
    closures: dict[tuple[str, int], Closure],
    final: bool,
    breaks: Mapping[str, Collection[int]] | None,
) -> tuple[list[Range], dict[str, int]]:
    ranges: list[Range] = []
    cuts: dict[str, int] = {}
    for cluster, events in groupby(summary.followed, key=lambda event: event.cluster):
        sessions = memory.sessions.setdefault(cluster, Sessions())
        closing = {seq: c for (name, seq), c in closures.items() if name == cluster}
        ended, cut = sessions.follow(
            events,
            closing,
            summary.last_seqs[cluster],
            final=final,
            breaks=None if breaks is None else breaks.get(cluster, ()),
        )
        ranges += [Range(cluster, first, last, True) for first, last in ended]
        if cut is not None:
            cuts[cluster] = cut
    return ranges, cuts


def _find_session_closes(followed: list[Event], ranges: list[Range]) -> frozenset[Place]:
    """The followed deletes that ended a session."""
    by_cluster: dict[str, list[Range]] = {}
    for ended in ranges:
        by_cluster.setdefault(ended.cluster, []).append(ended)
    return frozenset(
        (event.cluster, event.seq)
        for event in followed
        if event.op == "delete"
        and any(
            ended.first_seq <= event.seq <= (ended.last_seq or 0)
            for ended in by_cluster.get(event.cluster, ())
        )
    )


def _cut(events: DataFrame, cuts: dict[str, int]) -> DataFrame:
    if not cuts:
        return events
    ranges = [Range(cluster, seq, None, True) for cluster, seq in cuts.items()]
    waiting = annotate(events, "_waits", "BOOLEAN", ranges, "false")
    return waiting.where("NOT _waits").drop("_waits")
