"""One batch made ready for the tables: what the driver learns by following its few special events.

Sessions that ended, frames that close, gaps, controllers: all that compares two paths or two
moments is settled here, in plain Python, and handed to the SQL of the tables as columns of the
events. The result depends only on the order of events, never on how they were cut into batches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from pyspark.sql import DataFrame

from delta_tables.table import Table
from streaming.annotations import Range, annotate, annotate_inputs, rewrite_odd
from streaming.frames import Closure, Frames
from streaming.intervals import fold
from streaming.sessions import Sessions
from streaming.steps.controller import KINDS as CONTROLLER_KINDS
from streaming.steps.controller import fold_controller
from streaming.steps.log_gaps import OPS as GAP_OPS
from streaming.steps.log_gaps import Blindness, find_blindness, fold_log_gaps
from streaming.steps.row import Row
from streaming.summary import Summary
from zklake.events.envelope import Event


@dataclass
class StepState:
    """A step table as the driver holds it: its rows, and the last seq that is in them."""

    # The open ones; right after a start also those that ended beyond the watermark.
    rows: list[Row] = field(default_factory=list)
    marker: int = -1
    # Whether events since have changed something that the lake does not hold yet.
    is_changed: bool = False

    @property
    def open_rows(self) -> list[Row]:
        """What the next events go on from."""
        return [row for row in self.rows if row["is_open"]]

    @property
    def ended_rows(self) -> list[Row]:
        """What the lake holds for good."""
        return [row for row in self.rows if not row["is_open"]]


@dataclass
class Memory:
    """What the driver remembers between batches; all of it can be read back from the lake."""

    sessions: dict[str, Sessions] = field(default_factory=dict)
    frames: dict[str, Frames] = field(default_factory=dict)
    steps: dict[str, StepState] = field(
        default_factory=lambda: {"log_gaps": StepState(), "controller": StepState()}
    )


@dataclass(frozen=True)
class Turn:
    """A batch, ready: annotated events up to where it may be folded, and what it closes."""

    events: DataFrame
    closures: tuple[Closure, ...]
    # Events that must wait for the next batch, by cluster: from which seq on.
    cuts: dict[str, int]
    step_rows: dict[str, list[Row]]


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
    gaps = _fold_gaps(memory.steps["log_gaps"], followed)
    blindness = find_blindness(gaps)
    closures = {
        place: replace(c, gap_from_ms=_look_up(blindness, c.cluster, c.end_seq))
        for place, c in closures.items()
    }
    reigns = _fold_reigns(memory.steps["controller"], followed, ranges, closures, blindness)
    annotated = annotate(_cut(events, cuts), "is_session_close", "BOOLEAN", ranges, "false")
    gap_ranges = [Range(b.cluster, b.first_seq, b.last_seq, b.from_ms) for b in blindness]
    return Turn(
        events=annotate(annotated, "gap_from_ms", "BIGINT", gap_ranges),
        closures=tuple(closures.values()),
        cuts=cuts,
        step_rows={"log_gaps": gaps, "controller": reigns},
    )


def fold_table(
    table: Table, open_rows: DataFrame, turn: Turn, odd: dict[str, int], after_seq: int = -1
) -> DataFrame:
    """The table's rows after this turn, held in memory; events up to `after_seq` are in it."""
    news = turn.events.where(f"seq > {after_seq}")
    news = rewrite_odd(table, news, odd[table.name])
    news = annotate_inputs(table, news, turn.step_rows)
    closures = [closure for closure in turn.closures if closure.end_seq > after_seq]
    return fold(table, open_rows, news, closures).localCheckpoint()


def _follow_frames(memory: Memory, followed: Iterable[Event]) -> dict[tuple[str, int], Closure]:
    closures = {}
    for event in followed:
        closure = memory.frames.setdefault(event.cluster, Frames()).follow(event)
        if closure is not None:
            closures[event.cluster, event.seq] = closure
    return closures


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


def _fold_gaps(state: StepState, followed: list[Event]) -> list[Row]:
    events = [e for e in followed if e.op in GAP_OPS and e.seq > state.marker]
    state.is_changed = bool(events)
    return state.ended_rows + fold_log_gaps(state.open_rows, events)


def _fold_reigns(
    state: StepState,
    followed: list[Event],
    ranges: list[Range],
    closures: dict[tuple[str, int], Closure],
    blindness: list[Blindness],
) -> list[Row]:
    events = [
        e
        for e in followed
        if (e.kind in CONTROLLER_KINDS or (e.cluster, e.seq) in closures) and e.seq > state.marker
    ]
    state.is_changed = bool(events)
    closes = {
        (e.cluster, e.seq)
        for e in events
        if e.op == "delete"
        and any(
            r.cluster == e.cluster and r.first_seq <= e.seq <= (r.last_seq or 0) for r in ranges
        )
    }
    return state.ended_rows + fold_controller(
        state.open_rows,
        events,
        closes,
        closures,
        lambda cluster, seq: _look_up(blindness, cluster, seq),
    )


def _look_up(blindness: list[Blindness], cluster: str, seq: int) -> int | None:
    for gap in reversed(blindness):
        is_before_end = gap.last_seq is None or seq <= gap.last_seq
        if gap.cluster == cluster and gap.first_seq <= seq and is_before_end:
            return gap.from_ms
    return None


def _cut(events: DataFrame, cuts: dict[str, int]) -> DataFrame:
    if not cuts:
        return events
    ranges = [Range(cluster, seq, None, True) for cluster, seq in cuts.items()]
    waiting = annotate(events, "_waits", "BOOLEAN", ranges, "false")
    return waiting.where("NOT _waits").drop("_waits")
