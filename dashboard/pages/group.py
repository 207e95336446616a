"""Group: one group's lag over time, partition ownership, rebalances and members."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from zlib import crc32

from markupsafe import Markup

from dashboard.charts import Bar, Lane, draw_lanes
from dashboard.openapi.params import Param
from dashboard.openapi.rows import WORDS, describe_rows
from dashboard.openapi.shapes import Either, choose
from dashboard.page import Asked, Data, Page
from dashboard.pages.groups import EMPTY, GROUP, list_groups
from dashboard.rebalance_costs import REBALANCE, load_rebalances
from dashboard.series import SERIES, load_lag
from delta_tables.live.tables import Row
from delta_tables.reading import quote
from zklake.errors import QueryError
from zklake.phrases import format_end
from zklake.times import write_duration

_READS = (
    "offset_lag",
    "lag_rollups",
    "consumer_membership",
    "ownership_history",
    "consumer_offsets",
    "rebalances",
)
_LANES = 60

_PARTITIONS = """
SELECT topic, partition, owner_member_id, owner, committed_offset, committed_at, log_end_offset,
  lag, reason, lag_seconds, lag_quality, velocity, catch_up_seconds, retention_share, lost_records,
  loss_at, divergence, status, status_since, sampled_at
FROM offset_lag
WHERE is_open AND {where}
ORDER BY topic, partition
LIMIT 2000
"""
_OFFSETS = """
SELECT topic, partition, committed_offset, valid_from_at AS committed_at
FROM consumer_offsets
WHERE is_open AND {where}
ORDER BY topic, partition
LIMIT 2000
"""
_TENURES = """
SELECT topic, partition, owner, owner_member_id, valid_from_at, valid_to_at, is_open, ended_by
FROM ownership_history
WHERE {where} AND {overlap}
ORDER BY topic, partition, valid_from_seq
LIMIT 20000
"""
_MEMBERS = """
SELECT member_id, host, pattern, subscription, session, valid_from_at, valid_to_at, is_open,
  ended_by
FROM consumer_membership
WHERE {where} AND {overlap}
ORDER BY is_open DESC, valid_from_seq DESC
LIMIT 500
"""


def load(asked: Asked) -> Data:
    """Everything that is known of one group in the range."""
    group = _find(asked)
    tables = asked.tables
    where = f"coordinator = {quote(group['coordinator'])} AND group_id = {quote(group['group_id'])}"

    def ask(sql: str, table: str) -> list[Row]:
        return tables.query(sql.format(where=where, overlap=asked.span.write_overlap()), table)

    partitions = ask(_PARTITIONS, "offset_lag") or ask(_OFFSETS, "consumer_offsets")
    return {
        "group": group,
        "partitions": partitions,
        "lag": load_lag(tables, asked.span, where, _name_partition),
        "tenures": ask(_TENURES, "ownership_history"),
        "rebalances": load_rebalances(tables, asked.span, where, asked.now),
        "members": ask(_MEMBERS, "consumer_membership"),
    }


def _find(asked: Asked) -> Row:
    group_id, coordinator = asked.params.get("group_id", ""), asked.params.get("coordinator", "")
    named = list_groups(asked.tables, group_id)
    known = [group for group in named if coordinator in ("", group["coordinator"])]
    if known:
        return known[0]
    if not group_id:
        raise QueryError("No group given: add group_id, or choose a group on the Groups page.")
    # It is gone, but its history may not be.
    return {"group_id": group_id, "coordinator": coordinator or "zookeeper", **EMPTY}


def _name_partition(row: Row) -> str:
    return f"{row['topic']}-{row['partition']}"


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """Who owned what: a lane per partition, with the holes in which nobody did."""
    tenures: dict[str, list[Row]] = defaultdict(list)
    for row in data["tenures"]:
        tenures[_name_partition(row)].append(row)
    lanes = [
        Lane(name, _draw_tenures(asked, rows), asked.link("topic", topic=rows[0]["topic"]))
        for name, rows in list(tenures.items())[:_LANES]
    ]
    caption = "Owner of each partition over time"
    return {
        "owners": draw_lanes(lanes, asked.span, caption) if lanes else Markup(""),
        "lanes_left_out": Markup("{}").format(max(0, len(tenures) - _LANES)),
    }


def _draw_tenures(asked: Asked, rows: list[Row]) -> list[Bar]:
    bars = []
    for row in rows:
        end = row["valid_to_at"] or asked.span.end
        lasted = (end - row["valid_from_at"]).total_seconds()
        owner = row["owner"] or "unknown owner"
        title = f"{owner}: {write_duration(lasted)}"
        title += f", {format_end(row['ended_by'])}" if row["ended_by"] else ""
        bars.append(
            Bar(
                row["valid_from_at"],
                end,
                title,
                choose_tone(row["owner_member_id"]),
                asked.link_at(max(row["valid_from_at"], asked.span.start)),
                owner,
            )
        )
    holes = [
        _draw_hole(asked, before, after)
        for before, after in pairwise([*bars, None])
        if before is not None
    ]
    shown = [*bars, *(hole for hole in holes if hole is not None)]
    return sorted(shown, key=lambda bar: bar.start)


def _draw_hole(asked: Asked, before: Bar, after: Bar | None) -> Bar | None:
    end = after.start if after is not None else asked.span.end
    if end <= before.end or before.end < asked.span.start:
        return None
    lasted = write_duration((end - before.end).total_seconds())
    return Bar(
        before.end, end, f"no owner: {lasted}", "hole", asked.link_at(before.end), "no owner"
    )


def choose_tone(name: str | None) -> str:
    """The same colour for the same name, on every page."""
    return "quiet" if name is None else f"c{crc32(name.encode()) % 8}"


PAGE = Page(
    "group",
    "Group",
    load,
    _READS,
    draw,
    in_menu=False,
    under="groups",
    params=(
        Param("group_id", str, "The group.", ("billing",), is_required=True),
        Param(
            "coordinator",
            choose(*WORDS["coordinator"]),
            "Where its offsets are stored, if ZooKeeper and Kafka both have a group of that name.",
        ),
    ),
    answer={
        "group": GROUP,
        # Where nobody samples log ends, only what was committed.
        "partitions": Either(([describe_rows(_PARTITIONS)], [describe_rows(_OFFSETS)])),
        "lag": SERIES,
        "tenures": [describe_rows(_TENURES)],
        "rebalances": [REBALANCE],
        "members": [describe_rows(_MEMBERS)],
    },
)
