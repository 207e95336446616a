"""Brokers: which are up, when they left and returned, and how long until back in sync."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from markupsafe import Markup

from dashboard.charts import Bar, Lane, draw_lanes
from dashboard.lives import LIFE, list_lives
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Instant, Named, say
from dashboard.page import Asked, Data, Page
from delta_tables.live.tables import Row
from zklake.phrases import format_end
from zklake.times import write_duration

_READS = ("broker_membership", "controller", "partition_state", "topics")
# ZooKeeper counts sessions in signed numbers and writes them unsigned.
_UNSIGNED = (1 << 64) - 1

_CONTROLLER = """
SELECT controller_id, controller_epoch, valid_from_at, valid_to_at, ended_by
FROM controller
WHERE {overlap}
ORDER BY valid_from_seq DESC
LIMIT 200
"""
_LEADS = """
SELECT leader AS broker_id, count(*) AS leads
FROM partition_state
WHERE is_open AND leader >= 0
GROUP BY leader
"""
_IN_SYNC = """
SELECT broker_id, count(*) AS in_sync
FROM (SELECT unnest(isr) AS broker_id FROM partition_state WHERE is_open)
GROUP BY broker_id
"""
# Where an isr grew, and by whom.
_REJOINS = """
SELECT broker_id, valid_from_at AS at
FROM (
  SELECT valid_from_at, unnest(array_except(isr, isr_before)) AS broker_id
  FROM (
    SELECT topic, partition, czxid, isr, valid_from_at, valid_from_seq,
      lag(isr) OVER (PARTITION BY topic, partition, czxid ORDER BY valid_from_seq) AS isr_before
    FROM partition_state
    WHERE {overlap}
  )
  WHERE isr_before IS NOT NULL AND {within}
)
"""


def load(asked: Asked) -> Data:
    """Brokers as they are, and their comings and goings in the range."""
    tables, span = asked.tables, asked.span
    lives = list_lives(tables)
    reigns = tables.query(_CONTROLLER.format(overlap=span.write_overlap()), "controller")
    rejoins = tables.query(
        _REJOINS.format(overlap=span.write_overlap(), within=span.write_within("valid_from_at")),
        "partition_state",
    )
    leads = {row["broker_id"]: row["leads"] for row in tables.query(_LEADS, "partition_state")}
    in_sync = {
        row["broker_id"]: row["in_sync"] for row in tables.query(_IN_SYNC, "partition_state")
    }
    now = next((row["controller_id"] for row in reigns if row["valid_to_at"] is None), None)
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for life in lives:
        by_broker[life["broker_id"]].append(life)
    brokers = [
        {
            "broker_id": broker,
            **_describe(asked, mine),
            "is_controller": broker == now,
            "leads": leads.get(broker, 0),
            "in_sync": in_sync.get(broker, 0),
        }
        for broker, mine in by_broker.items()
    ]
    return {
        "brokers": brokers,
        "returns": _list_returns(asked, by_broker, rejoins),
        "reigns": reigns,
        "lives": [life for life in lives if _is_in(asked, life)],
    }


def _is_in(asked: Asked, life: Row) -> bool:
    return life["came_at"] < asked.span.end and (life["left_at"] or asked.now) > asked.span.start


def _describe(asked: Asked, lives: list[Row]) -> Row:
    last = lives[-1]
    left = [
        life
        for life in lives
        if life["left_at"] and asked.span.start <= life["left_at"] < asked.span.end
    ]
    return {
        "is_up": last["left_at"] is None,
        "since": last["came_at"] if last["left_at"] is None else last["left_at"],
        "endpoints": last["endpoints"],
        "rack": last["rack"],
        "flaps": len(left),
    }


def _list_returns(asked: Asked, by_broker: dict[int, list[Row]], rejoins: list[Row]) -> list[Row]:
    """Lives that began in the range after another: how long away, how long until in sync."""
    returns = []
    for broker, lives in by_broker.items():
        mine = [row["at"] for row in rejoins if row["broker_id"] == broker]
        for before, life in pairwise(lives):
            if not asked.span.start <= life["came_at"] < asked.span.end:
                continue
            end = life["left_at"] or asked.now
            joined = [at for at in mine if life["came_at"] <= at <= end]
            away = (
                (life["came_at"] - before["left_at"]).total_seconds() if before["left_at"] else None
            )
            returns.append(
                {
                    "broker_id": broker,
                    "left_at": before["left_at"],
                    "ended_by": before["ended_by"],
                    "back_at": life["came_at"],
                    "away_s": away,
                    "partitions_rejoined": len(joined),
                    "in_sync_after_s": (max(joined) - life["came_at"]).total_seconds()
                    if joined
                    else None,
                }
            )
    return sorted(returns, key=lambda row: row["back_at"], reverse=True)


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """The sessions of each broker, and who was the controller."""
    lives: dict[int, list[Row]] = defaultdict(list)
    for life in data["lives"]:
        lives[life["broker_id"]].append(life)
    brokers = [row["broker_id"] for row in data["brokers"]]
    lanes = [
        Lane(f"broker {broker}", [_draw_life(asked, life) for life in lives[broker]])
        for broker in brokers
    ]
    lanes.append(Lane("controller", [_draw_reign(asked, row) for row in reversed(data["reigns"])]))
    drawn = draw_lanes(lanes, asked.span, "Broker sessions over time")
    return {"sessions": drawn if brokers else Markup("")}


def _draw_life(asked: Asked, life: Row) -> Bar:
    end = life["left_at"] or asked.span.end
    lasted = write_duration((end - life["came_at"]).total_seconds())
    session = (
        f"session 0x{life['session'] & _UNSIGNED:x}"
        if life["session"] is not None
        else "registered"
    )
    title = f"{session}: {lasted}" + (
        f", {format_end(life['ended_by'])}" if life["ended_by"] else ""
    )
    href = asked.link_at(max(life["came_at"], asked.span.start))
    return Bar(life["came_at"], end, title, f"c{life['broker_id'] % 8}", href)


def _draw_reign(asked: Asked, row: Row) -> Bar:
    end = row["valid_to_at"] or asked.span.end
    lasted = write_duration((end - row["valid_from_at"]).total_seconds())
    href = asked.link_at(max(row["valid_from_at"], asked.span.start))
    if row["controller_id"] is None:
        return Bar(
            row["valid_from_at"], end, f"no controller: {lasted}", "hole", href, "no controller"
        )
    who = f"broker {row['controller_id']}"
    title = f"{who}, epoch {row['controller_epoch']}: {lasted}"
    return Bar(row["valid_from_at"], end, title, f"c{row['controller_id'] % 8}", href, who)


_BROKER = Named(
    "Broker",
    {
        "broker_id": int,
        "is_up": bool,
        "since": say(Instant, "since when it is up or down"),
        "endpoints": list[str] | None,
        "rack": str | None,
        "flaps": say(int, "how often it left in the time range"),
        "is_controller": bool,
        "leads": say(int, "partitions that it leads"),
        "in_sync": say(int, "partitions that have it in their ISR"),
    },
)
PAGE = Page(
    "brokers",
    "Brokers",
    load,
    _READS,
    draw,
    answer={
        "brokers": [_BROKER],
        "returns": [
            {
                "broker_id": int,
                "left_at": Instant | None,
                "ended_by": LIFE.shape["ended_by"],
                "back_at": Instant,
                "away_s": float | None,
                "partitions_rejoined": int,
                "in_sync_after_s": float | None,
            }
        ],
        "reigns": [describe_rows(_CONTROLLER)],
        "lives": [LIFE],
    },
)
