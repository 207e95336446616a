"""One scrape: the text of some sets, made anew only where a table has news.

What a clock or a health address says is small, and made at every scrape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dashboard.dialects.burrow.metrics import BURROW, JUDGE_READS, judge
from dashboard.metrics.exposition import write_end, write_metrics
from dashboard.metrics.family import MetricSet
from dashboard.metrics.now import look
from dashboard.metrics.own_cluster import LEFT_OUT
from dashboard.metrics.sets import SET_BY_NAME
from dashboard.metrics.snapshot import MetricsSnapshot, Things, name_reads, take_snapshot
from dashboard.options import MetricOptions
from dashboard.pulse import Pulse
from delta_tables.live.tables import Tables
from zklake.name_patterns import Names


class _Written(NamedTuple):
    text: bytes
    # Without its things: they are in the text.
    snapshot: MetricsSnapshot


def scrape(
    tables: Tables, pulse: Pulse, options: MetricOptions, names: Sequence[str], form: str
) -> bytes:
    """The text of these sets."""
    parts: list[bytes] = []
    left_out: list[tuple[str, int]] = []
    for name in names:
        text, left = _write_set(tables, pulse, options, SET_BY_NAME[name], form)
        parts.append(text)
        left_out.append((name, left))
    counted: Things = {"left_out": left_out}
    parts.append(write_metrics([LEFT_OUT], tables.cluster, counted, form))
    return b"".join((*parts, write_end(form)))


def _write_set(
    tables: Tables, pulse: Pulse, options: MetricOptions, chosen: MetricSet, form: str
) -> tuple[bytes, int]:
    families = chosen.choose(with_partitions=options.detail == "partitions")
    still = [family for family in families if not family.shape.is_of_now]
    is_judged = chosen is BURROW

    def make() -> _Written:
        snapshot = take_snapshot(tables, chosen, families, options)
        things = snapshot.things
        if is_judged:
            is_wanted = Names(options.topics, options.exclude_topics).holds
            things |= judge(tables, snapshot.groups, pulse, is_wanted)
        text = write_metrics(still, tables.cluster, things, form)
        return _Written(text, replace(snapshot, things={}))

    reads = (*name_reads(tables, families), *(JUDGE_READS if is_judged else ()))
    written = tables.derive(("metrics", chosen.name, options, form), reads, make)
    moving = [family for family in families if family.shape.is_of_now]
    things = look(written.snapshot, pulse)
    text = written.text + write_metrics(moving, tables.cluster, things, form)
    return text, written.snapshot.left_out
