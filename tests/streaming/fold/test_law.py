"""The law: whatever way the log is cut, the tables are those of the plain reference fold."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from itertools import pairwise, zip_longest
from typing import Any

import pytest

from delta_tables.catalog import TABLE_BY_NAME, TABLES
from tests.reference.fold.generator import generate
from tests.reference.fold.tables import fold_events
from tests.streaming.fold.engine import Engine
from zklake.events.envelope import Event

SEEDS = range(int(os.environ.get("ZKLAKE_LAW_SEEDS", "200")))
BATCHES = 4
LENGTH = 80
# Groups have a law of their own: test_group_law.py.
NAMES = tuple(table.name for table in TABLES if table.folded in ("intervals", "steps"))

Row = dict[str, Any]


def make_plain(value: Any) -> Any:
    """A value as the reference writes it: times in ms, dates as text."""
    if isinstance(value, datetime):
        return round(value.replace(tzinfo=UTC).timestamp() * 1000)
    return value.isoformat() if isinstance(value, date) else value


def sort_rows(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """By cluster, in an order that both sides can make."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        plain = {name: make_plain(value) for name, value in row.items() if name != "fold_state"}
        found[row["cluster"]].append(plain)
    for plain_rows in found.values():
        plain_rows.sort(key=lambda row: (row["valid_from_seq"], repr(sorted(row.items()))))
    return found


def cut_at_random(events: list[Event], seed: int) -> list[list[Event]]:
    dice = random.Random(seed)
    edges = sorted(dice.randint(0, len(events)) for _ in range(BATCHES - 1))
    return [events[a:b] for a, b in pairwise([0, *edges, len(events)])]


@pytest.fixture(scope="module")
def logs() -> dict[str, list[Event]]:
    names = {f"{seed:05}": seed for seed in SEEDS}
    return {name: list(generate(seed, name, LENGTH)) for name, seed in names.items()}


@pytest.fixture(scope="module")
def streamed(logs: dict[str, list[Event]]) -> Engine:
    """Every log cut in its own way; batch k holds the k-th part of each."""
    engine = Engine()
    parts = [cut_at_random(events, seed) for seed, events in enumerate(logs.values())]
    for batch in range(BATCHES):
        engine.fold(event for log in parts for event in log[batch])
    engine.finish()
    return engine


@pytest.fixture(scope="module")
def reference(logs: dict[str, list[Event]]) -> dict[str, list[Row]]:
    return fold_events(event for events in logs.values() for event in events)


@pytest.mark.parametrize("name", NAMES)
def test_streamed_is_what_the_reference_says(
    name: str, streamed: Engine, reference: dict[str, list[Row]]
) -> None:
    assert name in reference, (
        f"the reference fold does not know {name}: CONTRIBUTING, Add a table, 5"
    )
    wanted, got = sort_rows(reference[name]), sort_rows(streamed.rows(name))
    assert any(wanted.values()), "no step makes events of it, or keys.py has no place for it"
    columns = {*TABLE_BY_NAME[name].names} - {"fold_state"}
    for row in (row for rows in wanted.values() for row in rows):
        assert row.keys() == columns
    wrong = [cluster for cluster in {*wanted, *got} if wanted.get(cluster) != got.get(cluster)]
    said = [explain(got.get(cluster, []), wanted.get(cluster, [])) for cluster in sorted(wrong)]
    assert not wrong, "\n".join(
        f"seed {int(c)}: {s}" for c, s in zip(sorted(wrong), said, strict=True)
    )


def explain(got: list[Row], wanted: list[Row]) -> str:
    """The first row that differs, and in what."""
    for mine, theirs in zip_longest(got, wanted, fillvalue=None):
        if mine is None or theirs is None:
            return f"only one side has a row: got {mine}, wanted {theirs}"
        if mine != theirs:
            both = {name: (mine[name], theirs[name]) for name in mine if mine[name] != theirs[name]}
            return f"at seq {mine['valid_from_seq']} (got, wanted): {both}"
    return "the same"
