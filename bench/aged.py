"""A month-old lake beside a fresh one of the same cluster: batches, queries, files, heap.

Both are generated (bench/aged_lake); the aged one is measured as it is, and after maintenance.
Batches are folded in this process's Spark without Kafka, in turn; queries go through deltalake.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from bench.aged_lake import Size, World, age_lake
from bench.figures import Figure, percentile, ratio
from bench.generated import CLUSTER, GeneratedLake
from bench.processes import read_rss_bytes
from bench.stage import Stage
from delta_tables import reading
from delta_tables.asking.lakes import Lake
from delta_tables.asking.querying import check_query
from delta_tables.asking.question import Limits
from delta_tables.asking.sandbox import run_query
from delta_tables.asking.stats import measure_lake
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.reading import KNOWN
from streaming.maintenance.retention import Policy
from streaming.maintenance.upkeep import Outcome, maintain

_QUERIES = Path(__file__).parents[1] / "examples" / "queries"
_WARM_UP = 8


@dataclass(frozen=True)
class _Plan:
    size: Size
    pairs: int
    asks: int
    memory_batches: int


_FULL = _Plan(Size(), pairs=20, asks=5, memory_batches=500)
_QUICK = _Plan(
    Size(days=3, beats=240, slots=10, commits=300, topics=20, groups=10),
    pairs=3,
    asks=1,
    memory_batches=10,
)


def measure(stage: Stage, quick: bool) -> list[Figure]:
    """Aged ÷ fresh, before and after maintenance."""
    plan = _QUICK if quick else _FULL
    aged, fresh, made_s = _make_lakes(stage.directory, plan)
    figures = [Figure("making the aged lake", [made_s], "s"), *_count("before", aged)]
    # Each question opens logs of 20,000 commits: once must do.
    hasty = replace(plan, asks=1)
    figures += _compare("as it is", aged, fresh, hasty, goal="")
    figures += _maintain(aged)
    figures += _count("after", aged)
    figures += _compare("maintained", aged, fresh, plan, goal="≤ 1.3")
    figures += _watch_memory(aged, plan.memory_batches)
    return figures


def _make_lakes(directory: Path, plan: _Plan) -> tuple[GeneratedLake, GeneratedLake, float]:
    """The fresh one holds the same znodes, and of their history the first few hours."""
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    began = time.monotonic()
    aged = age_lake(directory / "aged", CLUSTER, plan.size, last_day=yesterday)
    made_s = time.monotonic() - began
    young = replace(plan.size, days=1, beats=24, slots=20, commits=10, files=1)
    fresh = age_lake(directory / "fresh", CLUSTER, young, last_day=yesterday)
    return (
        GeneratedLake(directory / "aged", aged),
        GeneratedLake(directory / "fresh", fresh),
        made_s,
    )


def _compare(
    state: str,
    aged: GeneratedLake,
    fresh: GeneratedLake,
    plan: _Plan,
    *,
    goal: str,
) -> list[Figure]:
    print(f"aged: {state}", file=sys.stderr, flush=True)
    for lake in (aged, fresh):
        lake.start()
    pairs = [(aged.fold_batch(), fresh.fold_batch()) for _ in range(plan.pairs + _WARM_UP)][
        _WARM_UP:
    ]
    old, new = zip(*pairs, strict=True)
    asked = _ask_in_turn(_ask, aged, fresh, plan.asks)
    p95 = _find_p95(asked)
    read = _find_p95(_ask_in_turn(_read, aged, fresh, plan.asks))
    return [
        ratio(f"batch, aged {state} ÷ fresh", old, new, goal),
        Figure(f"batch, aged {state}", old, "s"),
        Figure("batch, fresh", new, "s"),
        Figure(f"p95 of {len(asked)} queries, aged {state} ÷ fresh", [p95[0] / p95[1]], "×", goal),
        Figure(
            f"queries, aged {state} ÷ fresh, one by one", [a / b for a, b in asked.values()], "×"
        ),
        Figure(f"p95 of the queries, aged {state}", [p95[0]], "s"),
        Figure("p95 of the queries, fresh", [p95[1]], "s"),
        Figure(f"p95 of reading alone, aged {state} ÷ fresh", [read[0] / read[1]], "×"),
        Figure(f"p95 of reading alone, aged {state}, fresh", read, "s"),
    ]


def _find_p95(asked: Mapping[str, tuple[float, float]]) -> list[float]:
    """Of the aged lake, and of the fresh one."""
    return [percentile(seconds, 0.95) for seconds in zip(*asked.values(), strict=True)]


def _read_queries(world: World) -> Iterator[tuple[str, str]]:
    """The examples, asked of things that are there, at noon of the last day."""
    noon = f"{world.last_day}T12:00:00Z"
    for path in sorted(_QUERIES.glob("*.sql")):
        sql = path.read_text().replace("'orders'", "'topic-0'").replace("'readers'", "'group-0'")
        yield path.stem, sql.replace("/orders'", "/topic-0'").replace("2026-11-16T03:12:00Z", noon)


def _ask_in_turn(
    ask: Callable[[GeneratedLake, str], None],
    aged: GeneratedLake,
    fresh: GeneratedLake,
    times: int,
) -> dict[str, tuple[float, float]]:
    """Median seconds of each query on both, by its name."""
    asked = {}
    for name, sql in _read_queries(aged.world):
        took: tuple[list[float], list[float]] = ([], [])
        for _ in range(times):
            for lake, seconds in zip((aged, fresh), took, strict=True):
                began = time.monotonic()
                ask(lake, sql)
                seconds.append(time.monotonic() - began)
        asked[name] = (median(took[0]), median(took[1]))
    return asked


def _ask(lake: GeneratedLake, sql: str) -> None:
    """As `zklake sql` and the dashboard do, in a process of its own."""
    with run_query([Lake(lake.path, CLUSTER)], sql, Limits()) as answer:
        deque(answer, maxlen=0)


def _read(lake: GeneratedLake, sql: str) -> None:
    """What that process does when it has started: the part that grows with the lake."""
    checked = check_query(sql, KNOWN)
    tables = reading.open_named([Lake(lake.path, CLUSTER)], checked.names)
    deque(reading.run_sql(reading.build_engine(tables, checked.sql), checked.sql), maxlen=0)


def _maintain(aged: GeneratedLake) -> list[Figure]:
    # As a stream does, once an interval, until nothing is left to rewrite: files expire on and on.
    outcomes = news = _maintain_once(aged)
    while any(outcome.action not in ("vacuum", "clean") for outcome in news):
        news = _maintain_once(aged)
        outcomes = outcomes + news
    longest = max(outcomes, key=lambda outcome: outcome.seconds)
    return [
        Figure(f"maintenance, {len(outcomes)} steps", [sum(o.seconds for o in outcomes)], "s"),
        Figure("one step", [outcome.seconds for outcome in outcomes], "s"),
        Figure(f"longest step: {longest.action} {longest.table}", [longest.seconds], "s"),
    ]


def _maintain_once(aged: GeneratedLake) -> list[Outcome]:
    outcomes = list(maintain(aged.path, CLUSTER, TABLE_BY_NAME, Policy()))
    assert not any(outcome.is_error for outcome in outcomes), outcomes
    return outcomes


def _count(when: str, aged: GeneratedLake) -> list[Figure]:
    tables = measure_lake(aged.path, CLUSTER).tables
    return [
        Figure(f"rows {when}", [sum(table.rows for table in tables)], ""),
        Figure(f"data files {when}", [sum(table.files for table in tables)], ""),
        Figure(f"log files {when}", [sum(table.log_files or 0 for table in tables)], ""),
        Figure(f"bytes {when}", [sum(table.bytes for table in tables)], "B"),
    ]


def _watch_memory(aged: GeneratedLake, batches: int) -> list[Figure]:
    """The driver's Python, at a fifth of the batches and at their end."""
    print(f"aged: {batches} batches", file=sys.stderr, flush=True)
    used = []
    for number in range(batches):
        aged.fold_batch()
        if (number + 1) % max(1, batches // 5) == 0:
            used.append(read_rss_bytes(os.getpid()))
    growth = used[-1] / used[0]
    return [
        Figure(f"memory after {batches} batches ÷ after a fifth", [growth], "×", "≤ 1.1"),
        Figure("memory", [value / 2**20 for value in used], "MiB"),
    ]
