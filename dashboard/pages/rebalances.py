"""Rebalances: how often groups rebalance, rebalance storms, and what they cost."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta

from markupsafe import Markup

from dashboard.charts import Column, draw_columns
from dashboard.heat import Cell, HeatRow, choose_width, draw_heat, list_columns
from dashboard.openapi.rows import WORDS, describe_rows
from dashboard.openapi.shapes import Instant, choose, say
from dashboard.page import Asked, Data, Page, write_link
from dashboard.rebalance_counts import HEATED, SHOWN, Counts
from dashboard.series import choose_step
from delta_tables.live.tables import Row
from zklake.phrases import format_count
from zklake.times import write_duration, write_time

_LATEST = """
SELECT coordinator, group_id, valid_from_at, valid_to_at, trigger, trigger_member_id,
  trigger_topic, trigger_exit, attempts, conflicts, partitions, moved, reacquired, left_unowned,
  unowned_ms, duration_ms, outcome
FROM rebalances
WHERE {within}
ORDER BY valid_from_at DESC, valid_from_seq DESC
LIMIT {most}
"""


def load(asked: Asked) -> Data:
    """The range's rebalances: by time, by group, by group and hour, and the latest one by one."""
    counts, hour = Counts(asked.tables, asked.span), choose_width(asked.span)
    triggers, groups = counts.count_by_trigger(), counts.rank_groups()
    within = asked.span.write_within("valid_from_at")
    counted = groups[0] if groups else {"all_groups": 0, "storms": 0}
    return {
        "total": sum(row["rebalances"] for row in triggers),
        "failed": sum(row["failed"] for row in triggers),
        "unowned_ms": sum(row["unowned_ms"] for row in triggers),
        "all_groups": counted["all_groups"],
        "storms": counted["storms"],
        "by_time": counts.count_by_time(_choose_width(asked)),
        "groups": [_leave_out(row, "all_groups", "storms") for row in groups],
        "frequency_s": hour,
        "frequency": counts.count_frequency(hour),
        "triggers": [_leave_out(row, "failed", "unowned_ms") for row in triggers],
        "latest": asked.tables.query(_LATEST.format(within=within, most=SHOWN), "rebalances"),
    }


def _leave_out(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _choose_width(asked: Asked) -> int:
    return choose_step(asked.span) * 5


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """How many, when, and of which group."""
    if not data["total"]:
        return {}
    columns = [
        Column(
            row["at"],
            row["rebalances"],
            format_count(row["rebalances"], "rebalance"),
            asked.link_at(row["at"]),
        )
        for row in data["by_time"]
    ]
    return {
        "by_time": draw_columns(columns, asked.span, _choose_width(asked), "Rebalances over time"),
        "frequency": _draw_frequency(asked, data),
    }


def _draw_frequency(asked: Asked, data: Data) -> Markup:
    width = data["frequency_s"]
    cells: dict[tuple[str, str], dict[datetime, Cell]] = defaultdict(dict)
    for row in data["frequency"]:
        cells[row["coordinator"], row["group_id"]][row["at"]] = _make_cell(row, width)
    rows = [
        HeatRow(
            row["group_id"] + ("" if row["coordinator"] == "zookeeper" else " (Kafka)"),
            asked.link("group", group_id=row["group_id"], coordinator=row["coordinator"]),
            cells[row["coordinator"], row["group_id"]],
        )
        for row in data["groups"][:HEATED]
    ]
    caption = f"Rebalances of each group per {write_duration(width)}"
    return draw_heat(rows, list_columns(asked.span, width), caption)


def _make_cell(row: Row, width: int) -> Cell:
    end = row["at"] + timedelta(seconds=width)
    title = f"{row['group_id']}: {format_count(row['rebalances'], 'rebalance')}"
    title += f", {row['failed']} failed" if row["failed"] else ""
    title += f", {write_time(row['at'])} to {write_time(end)}"
    params = {"from": write_time(row["at"]), "to": write_time(end)}
    named = {"group_id": row["group_id"], "coordinator": row["coordinator"]}
    return Cell(row["rebalances"], title, write_link("group", named | params))


_TRIGGER = choose(*WORDS["trigger"])
PAGE = Page(
    "rebalances",
    "Rebalances",
    load,
    ("rebalances",),
    draw,
    answer={
        "total": int,
        "failed": int,
        "unowned_ms": int,
        "all_groups": say(int, "groups that rebalanced, listed or not"),
        "storms": say(int, "how many of them did so five times or more within ten minutes"),
        "by_time": [{"at": Instant, "rebalances": int}],
        "groups": [
            {
                "coordinator": choose(*WORDS["coordinator"]),
                "group_id": str,
                "rebalances": int,
                "failed": int,
                "moved": say(int | None, "null, here and below: not known for any of them"),
                "reacquired": int | None,
                "unowned_ms": int | None,
                "longest_ms": int | None,
                "trigger": say(_TRIGGER, "the most frequent one"),
                "storm": say(int, "the most within ten minutes; 0 when that is no storm"),
            }
        ],
        "frequency_s": say(int, "seconds that a row of `frequency` counts: an hour, or more"),
        "frequency": [
            {
                "at": Instant,
                "coordinator": choose(*WORDS["coordinator"]),
                "group_id": str,
                "rebalances": int,
                "failed": int,
            }
        ],
        "triggers": [{"trigger": _TRIGGER, "rebalances": int}],
        "latest": [describe_rows(_LATEST)],
    },
)
