"""The step tables and the sessions without Spark, held to the reference over generated logs."""

from __future__ import annotations

import random
from typing import Any

from delta_tables.catalog import STEP_TABLES
from streaming.frames import Frames
from streaming.sessions import EPHEMERAL_KINDS, Sessions
from streaming.steps.folding import fold_steps, make_states
from streaming.steps.registry import STEPS
from streaming.steps.surroundings import Surroundings
from tests.reference.fold.generator import generate
from tests.reference.fold.tables import fold_events
from zklake.events.envelope import Event
from zklake.events.samples import SAMPLE_OPS

FOLLOWED_OPS = (
    *("gap", "frame_begin", "in_sync", "heartbeat", "seq_hole", "seq_repeat"),
    *SAMPLE_OPS,
)
FOLLOWED_KINDS = {*EPHEMERAL_KINDS, *(kind for step in STEPS for kind in step.kinds)}
Row = dict[str, Any]


class Driver:
    """Follows a log in pieces, as the stream's driver does."""

    def __init__(self) -> None:
        self.sessions, self.frames = Sessions(), Frames()
        self.states = make_states()
        self.ended: dict[str, list[Row]] = {name: [] for name in self.states}
        self._waiting: list[Event] = []

    def follow(self, piece: list[Event], *, final: bool = False) -> None:
        events = self._waiting + piece
        if not events:
            return
        followed = [e for e in events if e.op in FOLLOWED_OPS or e.kind in FOLLOWED_KINDS]
        closures = {e.seq: c for e in followed if (c := self.frames.follow(e))}
        ranges, cut = self.sessions.follow(followed, closures, events[-1].seq, final=final)
        self._waiting = [] if cut is None else [e for e in events if e.seq >= cut]
        seen = [e for e in followed if cut is None or e.seq < cut]
        closes = {(e.cluster, e.seq) for e in seen if any(a <= e.seq <= b for a, b in ranges)}
        around = Surroundings(closes, {(c.cluster, s): c for s, c in closures.items()})
        rows, _ = fold_steps(self.states, seen, around)
        for name, state in self.states.items():
            assert state.is_changed or rows[name] == state.rows
            self.ended[name] += [row for row in rows[name] if not row["is_open"]]
            state.rows = [row for row in rows[name] if row["is_open"]]

    def rows(self, name: str) -> list[Row]:
        return self.ended[name] + self.states[name].rows


def strip(rows: list[Row]) -> list[str]:
    """Rows in an order that both sides can make, without what only one of them has."""
    kept = [
        {name: value for name, value in row.items() if name not in ("fold_state", "closed_on")}
        for row in rows
    ]
    return sorted(repr(sorted(row.items())) for row in kept)


def test_every_step_table_is_folded() -> None:
    assert [step.name for step in STEPS] == [table.name for table in STEP_TABLES]
    assert all(set(step.kinds) == set(t.kinds) for step, t in zip(STEPS, STEP_TABLES, strict=True))


def test_step_tables_are_those_of_the_reference() -> None:
    deletions = set()
    for seed in range(200):
        unique = {e.seq: e for e in reversed(generate(seed, "c", 120))}
        events = [unique[seq] for seq in sorted(unique)]
        dice, driver = random.Random(seed), Driver()
        edges = sorted(dice.randint(0, len(events)) for _ in range(5))
        for first, last in zip([0, *edges], [*edges, len(events)], strict=True):
            driver.follow(events[first:last])
        driver.follow([], final=True)
        wanted = fold_events(events)
        for name in driver.states:
            assert strip(driver.rows(name)) == strip(wanted[name]), f"seed {seed}: {name}"
        rows = driver.rows("admin_operations")
        deletions |= {r["ended_by"] for r in rows if r["operation"] == "topic_deletion"}
    assert deletions >= {"finished", "refused", "recreated", "resync", None}
