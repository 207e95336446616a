"""Rebalances: how often groups rebalance, which ones storm, and what it costs."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from dashboard.charts import Column, draw_columns
from dashboard.openapi.rows import WORDS, describe_rows
from dashboard.openapi.shapes import Instant, choose, say
from dashboard.page import Asked, Data, Page
from dashboard.series import choose_step
from dashboard.tables import Row

_REBALANCES = """
SELECT coordinator, group_id, valid_from_at, valid_to_at, trigger, trigger_member_id,
  trigger_topic, attempts, conflicts, partitions, moved, reacquired, left_unowned, unowned_ms,
  duration_ms, outcome
FROM rebalances
WHERE {within}
ORDER BY valid_from_at DESC
LIMIT 20000
"""
# So many of one group within so long are a storm.
_STORM, _STORM_S = 5, 600
_SHOWN = 100


def load(asked: Asked) -> Data:
    """The range's rebalances: by time, by group, and the latest one by one."""
    sql = _REBALANCES.format(within=asked.span.write_within("valid_from_at"))
    rows = asked.tables.query(sql, "rebalances")
    return {
        "total": len(rows),
        "failed": sum(row["outcome"] == "failed" for row in rows),
        "unowned_ms": sum(row["unowned_ms"] or 0 for row in rows),
        "by_time": _count_by_time(asked, rows),
        "groups": _rank(rows),
        "triggers": [
            {"trigger": trigger, "rebalances": count}
            for trigger, count in Counter(row["trigger"] for row in rows).most_common()
        ],
        "latest": rows[:_SHOWN],
    }


def _count_by_time(asked: Asked, rows: list[Row]) -> list[Row]:
    step = _choose_width(asked)
    counts = Counter(int(row["valid_from_at"].timestamp()) // step for row in rows)
    return [
        {"at": datetime.fromtimestamp(bucket * step, UTC), "rebalances": count}
        for bucket, count in sorted(counts.items())
    ]


def _choose_width(asked: Asked) -> int:
    return choose_step(asked.span) * 5


def _rank(rows: list[Row]) -> list[Row]:
    by_group: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_group[row["coordinator"], row["group_id"]].append(row)
    ranked = [_sum_up(key, mine) for key, mine in by_group.items()]
    return sorted(ranked, key=lambda row: (-row["rebalances"], row["group_id"]))[:_SHOWN]


def _sum_up(key: tuple[str, str], rows: list[Row]) -> Row:
    return {
        "coordinator": key[0],
        "group_id": key[1],
        "rebalances": len(rows),
        "failed": sum(row["outcome"] == "failed" for row in rows),
        "moved": sum(row["moved"] or 0 for row in rows),
        "reacquired": sum(row["reacquired"] or 0 for row in rows),
        "unowned_ms": sum(row["unowned_ms"] or 0 for row in rows),
        "longest_ms": max((row["duration_ms"] or 0 for row in rows), default=0),
        "trigger": Counter(row["trigger"] for row in rows).most_common(1)[0][0],
        "storm": _find_storm([row["valid_from_at"] for row in rows]),
    }


def _find_storm(times: list[datetime]) -> int:
    """The most rebalances within ten minutes; 0 when that is no storm."""
    ordered, most, first = sorted(times), 0, 0
    for last, at in enumerate(ordered):
        while at - ordered[first] > timedelta(seconds=_STORM_S):
            first += 1
        most = max(most, last - first + 1)
    return most if most >= _STORM else 0


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """How many, when."""
    columns = [
        Column(
            row["at"],
            row["rebalances"],
            f"{row['rebalances']} rebalances",
            asked.link_at(row["at"]),
        )
        for row in data["by_time"]
    ]
    drawn = draw_columns(columns, asked.span, _choose_width(asked), "Rebalances over time")
    return {"by_time": drawn if columns else Markup("")}


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
        "by_time": [{"at": Instant, "rebalances": int}],
        "groups": [
            {
                "coordinator": choose(*WORDS["coordinator"]),
                "group_id": str,
                "rebalances": int,
                "failed": int,
                "moved": int,
                "reacquired": int,
                "unowned_ms": int,
                "longest_ms": int,
                "trigger": say(_TRIGGER, "the most frequent one"),
                "storm": say(int, "the most within ten minutes; 0 when that is no storm"),
            }
        ],
        "triggers": [{"trigger": _TRIGGER, "rebalances": int}],
        "latest": [describe_rows(_REBALANCES)],
    },
)
