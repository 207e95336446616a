"""A lag machine begun anew at any place of the log ends up as one that never stopped."""

from __future__ import annotations

import pytest

from streaming.fold.crew import Crew
from streaming.fold.lag.machine import LagMachine
from streaming.fold.row import Row
from streaming.fold.standing import Standing
from tests.streaming.fold.driving import Contexts, Lake, Stop, find_contexts, follow, keep
from tests.streaming.fold.generated import generate
from tests.streaming.fold.recollecting import recollect
from zklake.events.envelope import Event

LENGTH = 80


def begin_anew(lake: Lake, events: list[Event], contexts: Contexts) -> Crew:
    """From the lake; what log_ends does not hold yet is followed again."""
    seq, standing = lake.seqs["log_ends"], Standing()
    past = [event for event in events if event.seq <= seq]
    follow(Crew(standing, ()), past, contexts)
    stop = Stop("c", standing, lake.rows(), dict(lake.seqs), past)
    machine = LagMachine.recall("c", None, standing, recollect(stop))
    crew = Crew(standing, (machine,))
    follow(crew, [event for event in events if event.seq > seq], contexts)
    return crew


def finish(crew: Crew, lake: Lake) -> dict[str, list[tuple[str, ...]]]:
    """All rows in the end, with what the machine remembers beside them."""
    lake.write(crew)
    lake.write(crew, idle=True)
    return {
        name: sorted(tuple(f"{column}={value}" for column, value in row.items()) for row in rows)
        for name, rows in lake.rows().items()
    }


@pytest.mark.parametrize("seed", [1, 8])
def test_at_every_cut_also_after_a_crash_between_the_two_tables(seed: int) -> None:
    events = keep(generate(seed, "c", LENGTH))
    contexts = find_contexts(events)
    whole = Crew(Standing(), (LagMachine("c"),))
    follow(whole, events, contexts)
    wanted = finish(whole, Lake(LagMachine.tables))
    assert all(wanted.values())
    for cut in range(len(events)):
        crew, lake = Crew(Standing(), (LagMachine("c"),)), Lake(LagMachine.tables)
        follow(crew, events[: cut // 2], contexts)
        lake.write(crew, idle=cut % 4 == 0)
        follow(crew, events[cut // 2 : cut], contexts)
        lake.write(crew, most=1 if cut % 3 == 0 else 2)
        crew = begin_anew(lake, events[:cut], contexts)
        follow(crew, events[cut:], contexts)
        assert finish(crew, lake) == wanted, f"cut at {cut}"


def test_a_marker_ahead_leaves_offset_lag_alone() -> None:
    events = keep(generate(1, "c", LENGTH))
    contexts = find_contexts(events)
    crew, lake = Crew(Standing(), (LagMachine("c"),)), Lake(LagMachine.tables)
    follow(crew, events, contexts)
    lake.write(crew, most=1)
    assert lake.seqs["log_ends"] == -1 < lake.seqs["offset_lag"]
    rows: list[Row] = lake.rows()["offset_lag"]
    again = begin_anew(lake, events, contexts)
    assert set(again.take()) == {"log_ends"}
    assert lake.rows()["offset_lag"] == rows
