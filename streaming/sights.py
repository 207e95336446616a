"""When an event only shows a znode alive, and no new state of it. Pure.

The same rules stand in SQL for the interval tables (marks.py, intervals.py).
"""

from __future__ import annotations

from typing import NamedTuple

from zklake.events.envelope import Event, Stat


class State(NamedTuple):
    """What tells one state of a znode from another."""

    czxid: int | None
    version: int | None
    fidelity: str


def read_state(event: Event) -> State:
    """The state that an event tells of; a create without a version is version 0."""
    stat = event.stat or Stat()
    is_born = event.op == "create" and stat.version is None
    return State(stat.czxid, 0 if is_born else stat.version, event.fidelity)


def is_touch(event: Event) -> bool:
    """A write whose value nobody could read, or a znode that the watcher may not read."""
    is_superseded = event.op != "create" and event.fidelity == "superseded"
    return is_superseded or event.op == "unreadable"


def is_echo(event: Event, standing: State) -> bool:
    """A read that repeats the standing state; what is unknown repeats nothing."""
    state = read_state(event)
    return event.op == "read" and None not in state and state == standing
