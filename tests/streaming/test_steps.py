"""The step tables and the sessions without Spark, held to the reference over generated logs."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from streaming.frames import Frames
from streaming.sessions import EPHEMERAL_KINDS, Sessions
from streaming.steps.controller import KINDS, fold_controller
from streaming.steps.log_gaps import find_blindness, fold_log_gaps
from tests.reference.fold.generator import generate
from tests.reference.fold.tables import fold_events
from zklake.events.envelope import Event

FOLLOWED_OPS = ("gap", "frame_begin", "in_sync", "heartbeat", "seq_hole", "seq_repeat")
Row = dict[str, Any]


class Driver:
    """Follows a log in pieces, as the stream's driver does."""

    def __init__(self) -> None:
        self.sessions, self.frames = Sessions(), Frames()
        self.gaps: list[Row] = []
        self.reigns: list[Row] = []
        self._waiting: list[Event] = []

    def follow(self, piece: list[Event], *, final: bool = False) -> None:
        events = self._waiting + piece
        if not events:
            return
        followed = [
            e for e in events if e.op in FOLLOWED_OPS or e.kind in (*EPHEMERAL_KINDS, *KINDS)
        ]
        closures = {e.seq: c for e in followed if (c := self.frames.follow(e))}
        last_seq = events[-1].seq
        ranges, cut = self.sessions.follow(followed, closures, last_seq, final=final)
        self._waiting = [] if cut is None else [e for e in events if e.seq >= cut]
        followed = [e for e in followed if cut is None or e.seq < cut]
        self.gaps = self._split(self.gaps, lambda rows: fold_log_gaps(rows, followed))
        blindness = find_blindness(self.gaps)

        def gap_from(_: str, seq: int) -> int | None:
            hits = [b for b in blindness if b.first_seq <= seq and seq <= (b.last_seq or seq)]
            return hits[-1].from_ms if hits else None

        ended = {(e.cluster, e.seq) for e in followed if any(a <= e.seq <= b for a, b in ranges)}
        placed = {(c.cluster, s): replace(c) for s, c in closures.items()}
        self.reigns = self._split(
            self.reigns, lambda rows: fold_controller(rows, followed, ended, placed, gap_from)
        )

    @staticmethod
    def _split(rows: list[Row], fold: Any) -> list[Row]:
        closed = [row for row in rows if not row["is_open"]]
        return closed + list(fold([row for row in rows if row["is_open"]]))


def strip(rows: list[Row]) -> list[str]:
    """Rows in an order that both sides can make, without what only one of them has."""
    kept = [
        {name: value for name, value in row.items() if name not in ("fold_state", "closed_on")}
        for row in rows
    ]
    return sorted(repr(sorted(row.items())) for row in kept)


def test_gaps_and_controllers_are_those_of_the_reference() -> None:
    for seed in range(200):
        unique = {e.seq: e for e in reversed(generate(seed, "c", 120))}
        events = [unique[seq] for seq in sorted(unique)]
        dice, driver = random.Random(seed), Driver()
        edges = sorted(dice.randint(0, len(events)) for _ in range(5))
        for first, last in zip([0, *edges], [*edges, len(events)], strict=True):
            driver.follow(events[first:last])
        driver.follow([], final=True)
        wanted = fold_events(events)
        assert strip(driver.gaps) == strip(wanted["log_gaps"]), f"seed {seed}"
        assert strip(driver.reigns) == strip(wanted["controller"]), f"seed {seed}"
