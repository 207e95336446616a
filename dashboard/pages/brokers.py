"""Brokers: which are up, when they left and returned, and how long until back in sync."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from dashboard.absences import ABSENCE, list_absences
from dashboard.charts import Bar, Lane, draw_lanes
from dashboard.colours import colour_broker
from dashboard.lives import LIFE, list_lives
from dashboard.openapi.rows import describe_rows
from dashboard.openapi.shapes import Instant, Named, say
from dashboard.page import Asked, Data, Page
from dashboard.sparklines import describe_rate, draw_line, find_rate, load_led
from delta_tables.live.tables import Row
from zklake.phrases import format_end
from zklake.times import write_duration

_READS = (
    "broker_membership",
    "controller",
    "partition_state",
    "topics",
    "log_ends",
    "consumption_pauses",
)
# ZooKeeper counts sessions in signed numbers and writes them unsigned.
_UNSIGNED = (1 << 64) - 1

CONTROLLER = """
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


def load(asked: Asked) -> Data:
    """Brokers as they are, and their comings and goings in the range."""
    tables, span = asked.tables, asked.span
    lives = list_lives(tables)
    terms = tables.query(CONTROLLER.format(overlap=span.write_overlap()), "controller")
    leads = {row["broker_id"]: row["leads"] for row in tables.query(_LEADS, "partition_state")}
    in_sync = {
        row["broker_id"]: row["in_sync"] for row in tables.query(_IN_SYNC, "partition_state")
    }
    lines = load_led(tables, span)
    now = next((row["controller_id"] for row in terms if row["valid_to_at"] is None), None)
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for life in lives:
        by_broker[life["broker_id"]].append(life)
    brokers = [
        {
            "broker_id": broker,
            **describe(asked, mine),
            "is_controller": broker == now,
            "leads": leads.get(broker, 0),
            "in_sync": in_sync.get(broker, 0),
            "line": lines.get(broker, []),
            "produced": find_rate(lines.get(broker)),
        }
        for broker, mine in by_broker.items()
    ]
    return {
        "brokers": brokers,
        "absences": list_absences(tables, span, asked.now),
        "reigns": terms,
        "lives": [life for life in lives if is_in(asked, life)],
    }


def is_in(asked: Asked, life: Row) -> bool:
    """Whether it held at some time of the range."""
    return life["came_at"] < asked.span.end and (life["left_at"] or asked.now) > asked.span.start


def describe(asked: Asked, lives: list[Row]) -> Row:
    """How a broker is, by its registrations."""
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


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """The sessions of each broker, and who was the controller."""
    lives: dict[int, list[Row]] = defaultdict(list)
    for life in data["lives"]:
        lives[life["broker_id"]].append(life)
    brokers = [row["broker_id"] for row in data["brokers"]]
    lanes = [
        Lane(
            f"broker {broker}",
            [draw_life(asked, life) for life in lives[broker]],
            asked.link("broker", broker_id=broker),
        )
        for broker in brokers
    ]
    lanes.append(Lane("controller", [draw_term(asked, row) for row in reversed(data["reigns"])]))
    drawn = draw_lanes(lanes, asked.span, "Broker sessions over time")
    return {
        "sessions": drawn if brokers else Markup(""),
        **{
            f"line{number}": draw_line(row["line"], describe_rate(row["line"]))
            for number, row in enumerate(data["brokers"])
        },
    }


def draw_life(asked: Asked, life: Row) -> Bar:
    """One registration."""
    end = life["left_at"] or asked.span.end
    lasted = write_duration((end - life["came_at"]).total_seconds())
    session = (
        f"session 0x{life['session'] & _UNSIGNED:x}"
        if life["session"] is not None
        else "registered"
    )
    title = f"{session}: {lasted}" + (
        f", {format_end(life['ended_by'], life['exit'])}" if life["ended_by"] else ""
    )
    href = asked.link_at(max(life["came_at"], asked.span.start))
    return Bar(life["came_at"], end, title, "", href, "", colour_broker(life["broker_id"]))


def draw_term(asked: Asked, row: Row) -> Bar:
    """One time of one controller, or of none."""
    end = row["valid_to_at"] or asked.span.end
    lasted = write_duration((end - row["valid_from_at"]).total_seconds())
    href = asked.link_at(max(row["valid_from_at"], asked.span.start))
    if row["controller_id"] is None:
        return Bar(
            row["valid_from_at"], end, f"no controller: {lasted}", "hole", href, "no controller"
        )
    who = f"broker {row['controller_id']}"
    title = f"{who}, epoch {row['controller_epoch']}: {lasted}"
    colour = colour_broker(row["controller_id"])
    return Bar(row["valid_from_at"], end, title, "", href, who, colour)


BROKER = Named(
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
        "line": say(list[float | None], "records per second that came for the partitions it leads"),
        "produced": say(float | None, "the same in the last tenth of the time range"),
    },
)
PAGE = Page(
    "brokers",
    "Brokers",
    load,
    _READS,
    draw,
    answer={
        "brokers": [BROKER],
        "absences": [ABSENCE],
        "reigns": [describe_rows(CONTROLLER)],
        "lives": [LIFE],
    },
)
