"""The incident view as drawings: panels of lines for the browser, and lanes. Reads no table.

Every mark leads to its evidence: the rows behind it where SQL may be asked, else the time machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from dashboard.charts import Bar, Lane, draw_axis, draw_grid, draw_tracks
from dashboard.colours import colour_broker, colour_line, colour_partition
from dashboard.evidence import link_rows
from dashboard.owner_lanes import list_owner_lanes
from dashboard.page import Asked, Data
from delta_tables.live.span import Span
from delta_tables.live.tables import Row
from zklake.phrases import (
    format_count,
    format_end,
    format_gap,
    format_operation,
    format_trigger,
)
from zklake.times import write_duration, write_time

_LANES = 40
_BROKERS = 12


def draw_incident(asked: Asked, data: Data, why: str = "") -> dict[str, Markup]:
    """What the macro needs. `why`: the page to ask for the causes of this range."""
    gaps = [_draw_gap(asked, row) for row in data["gaps"]]
    tracks = [
        _draw_section("Owners", list_owner_lanes(asked, data.get("tenures", ())), asked),
        _draw_section("Rebalances", _list_rebalances(asked, data.get("rebalances", ())), asked),
        _draw_section("Leaders and ISR", _list_leaders(asked, data["states"]), asked),
        _draw_section("Brokers", _list_sessions(asked, data["sessions"]), asked),
        _draw_section("Changes", _list_changes(asked, data), asked),
        _draw_section("Coverage gaps", [Lane("zklake itself", gaps)] if gaps else [], asked),
    ]
    return {
        "panels": htmlsafe_json_dumps(
            {**_write_panels(data.get("lag")), **_write_range(asked.span)}
        ),
        "tracks": Markup("").join(tracks),
        "grid": draw_grid(asked.span, gaps),
        "axis": draw_axis(asked.span),
        "at": Markup("{}").format(asked.link("at")),
        "why": Markup("{}").format(why),
    }


def draw_lines(lag: Data, title: str, unit: str, lines: list[Data]) -> dict[str, Markup]:
    """One panel with some lines of a series, for pages without the rest."""
    x: list[int] = lag["x"]
    step = x[1] - x[0] if len(x) > 1 else 60
    start, end = (datetime.fromtimestamp(at, UTC) for at in (x[0], x[-1] + step))
    span = Span(start, end)
    note = f"ten highest of {10 + lag['left_out']}" if lag["left_out"] else ""
    panel = {
        "title": title.removesuffix(f" ({unit})"),
        "unit": unit,
        "band": None,
        "lines": _colour(lines),
        "note": note,
    }
    figure = {"x": x, "step": step, "panels": [panel], **_write_range(span)}
    return {
        "panels": htmlsafe_json_dumps(figure),
        "grid": draw_grid(span),
        "axis": draw_axis(span),
    }


def _write_range(span: Span) -> dict[str, str]:
    return {"start": write_time(span.start), "end": write_time(span.end)}


def _colour(lines: list[Data]) -> list[Data]:
    """Each with its colour, in the order of their names: who is high may change any time."""
    named = sorted(lines, key=lambda line: _split(line["label"]))
    return [{**line, "colour": colour_line(line["label"])} for line in named]


def _split(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    is_partition = number.isascii() and number.isdigit()
    return (topic, int(number[:9])) if is_partition else (name, 0)


def _draw_section(title: str, lanes: Sequence[Lane], asked: Asked) -> Markup:
    if not lanes:
        return Markup("")
    more = len(lanes) - _LANES
    note = Markup(" <small>{} more not shown</small>").format(more) if more > 0 else ""
    return Markup(
        '<div class="track" role="group" aria-label="{0}"><h3>{0}{1}</h3>{2}</div>'
    ).format(title, note, draw_tracks(lanes[:_LANES], asked.span))


def _write_panels(lag: Data | None) -> dict[str, Any]:
    """Lines by panel; a band lies around what all of them come to."""
    if lag is None or not lag["x"]:
        return {"x": [], "step": 1, "panels": []}
    rates = [
        {"label": "produced", "values": lag["produced"], "tone": "--produced"},
        {"label": "consumed", "values": lag["consumed"], "tone": "--consumed"},
    ]
    note = f"ten highest of {10 + lag['left_out']}" if lag["left_out"] else ""
    panels: list[Data] = [
        {
            "title": "Lag",
            "unit": "records",
            "band": {"label": "total", **lag["total"]},
            "lines": _colour(lag["lag"]),
            "note": note,
        },
        {
            "title": "Time lag",
            "unit": "s",
            "band": {"label": "farthest behind", **lag["worst"]},
            "lines": _colour(lag["lag_seconds"]),
            "note": note,
        },
    ]
    if any(value is not None for line in rates for value in line["values"]):
        panels.append(
            {"title": "Rate", "unit": "records/s", "band": None, "lines": rates, "note": ""}
        )
    return {"x": lag["x"], "step": lag["step"], "panels": panels}


def _list_rebalances(asked: Asked, rows: Iterable[Row]) -> list[Lane]:
    bars = [
        Bar(
            row["valid_from_at"],
            row["valid_to_at"] or asked.span.end,
            _format_rebalance(asked, row),
            "bad" if row["outcome"] == "failed" else "happened",
            link_rows(asked, "rebalances", row["valid_from_seq"], row["valid_from_at"]),
            format_trigger(
                row["trigger"], row["trigger_member_id"], row["trigger_topic"], row["trigger_exit"]
            ),
        )
        for row in rows
    ]
    bars.sort(key=lambda bar: bar.start)
    return [Lane("the group", bars)] if bars else []


def _format_rebalance(asked: Asked, row: Row) -> str:
    who = (row["trigger_member_id"], row["trigger_topic"], row["trigger_exit"])
    moved = "" if row["moved"] is None else f", {format_count(row['moved'], 'partition')} moved"
    lasted = _measure(row["valid_from_at"], row["valid_to_at"] or asked.span.end)
    return f"rebalance: {format_trigger(row['trigger'], *who)}: {lasted}{moved}, {row['outcome']}"


def _list_leaders(asked: Asked, rows: Iterable[Row]) -> list[Lane]:
    parts: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        parts[(row["topic"], row["partition"])].append(row)
    return [
        Lane(
            f"{topic}-{number}",
            [_draw_state(asked, row) for row in mine],
            asked.link("topic", topic=topic),
            colour_partition(topic, number),
        )
        for (topic, number), mine in parts.items()
    ]


def _draw_state(asked: Asked, row: Row) -> Bar:
    end = row["valid_to_at"] or asked.span.end
    isr, replicas, colour, tone = row["isr"] or [], row["replica_count"] or 0, "", "hole"
    if row["leader"] is None or row["leader"] < 0:
        who = "no leader"
    else:
        who, colour = f"broker {row['leader']}", colour_broker(row["leader"])
        tone = "thin" if len(isr) < replicas else ""
    short = f", under-replicated ({len(isr)} of {replicas})" if tone == "thin" else ""
    lasted = _measure(row["valid_from_at"], end)
    title = (
        f"{row['topic']}-{row['partition']}: {who}, epoch {row['leader_epoch']}, "
        f"ISR {', '.join(map(str, isr)) or 'not known'}{short}: {lasted}"
    )
    href = link_rows(asked, "partition_state", row["valid_from_seq"], row["valid_from_at"])
    return Bar(row["valid_from_at"], end, title, tone, href, who, colour)


def _list_sessions(asked: Asked, lives: Iterable[Row]) -> list[Lane]:
    """Of many brokers, only those that came or went."""
    brokers: dict[int, list[Row]] = defaultdict(list)
    for life in lives:
        brokers[life["broker_id"]].append(life)
    span = asked.span
    if len(brokers) > _BROKERS:
        brokers = {
            broker: mine
            for broker, mine in brokers.items()
            if any(life["came_at"] > span.start or life["left_at"] for life in mine)
        }
    return [
        Lane(f"broker {broker}", list(_draw_lives(asked, broker, mine)))
        for broker, mine in sorted(brokers.items())
    ]


def _draw_lives(asked: Asked, broker: int, lives: Sequence[Row]) -> Iterator[Bar]:
    for number, life in enumerate(lives):
        left = life["left_at"]
        end = left or asked.span.end
        ended = f", {format_end(life['ended_by'], life['exit'])}" if left else ""
        title = f"broker {broker} registered: {_measure(life['came_at'], end)}{ended}"
        href = asked.link_at(max(life["came_at"], asked.span.start))
        yield Bar(life["came_at"], end, title, "", href, "", colour_broker(broker))
        if left and left < asked.span.end:
            back = lives[number + 1]["came_at"] if number + 1 < len(lives) else asked.span.end
            title = f"broker {broker} away: {_measure(left, back)}{ended}"
            yield Bar(left, back, title, "hole", asked.link_at(left), "away")


def _list_changes(asked: Asked, data: Data) -> list[Lane]:
    configs = [_draw_config(asked, row) for row in reversed(data["configs_changed"])]
    operations = [
        Bar(
            row["valid_from_at"],
            row["valid_to_at"] or asked.span.end,
            _format_operation(asked, row),
            "happened",
            link_rows(asked, "admin_operations", row["valid_from_seq"], row["valid_from_at"]),
            format_operation(row["operation"]),
        )
        for row in reversed(data["operations"])
    ]
    lanes = (Lane("config", configs), Lane("operations", operations))
    return [lane for lane in lanes if lane.bars]


def _draw_config(asked: Asked, row: Row) -> Bar:
    entity = f"{row['entity_type'].removesuffix('s')} {row['entity_name'] or ''}".strip()
    is_gone = row["ended_by"] in ("removed", "deleted") and row["valid_to_at"] is not None
    at: datetime = row["valid_to_at"] if is_gone else row["valid_from_at"]
    value = "redacted" if row["is_redacted"] else row["value"]
    what = "removed" if is_gone else f"= {value}"
    href = link_rows(asked, "config_history", row["valid_from_seq"], row["valid_from_at"])
    return Bar(at, at, f"{entity}: {row['config_key']} {what}", "point", href)


def _format_operation(asked: Asked, row: Row) -> str:
    partition = "" if row["partition"] is None else f"-{row['partition']}"
    about = f" of {row['topic']}{partition}" if row["topic"] else ""
    to = f" to {', '.join(map(str, row['replicas']))}" if row["replicas"] else ""
    lasted = _measure(row["valid_from_at"], row["valid_to_at"] or asked.span.end)
    end = f", {format_end(row['ended_by'])}" if row["ended_by"] else ", under way"
    return f"{format_operation(row['operation'])}{about}{to}: {lasted}{end}"


def _draw_gap(asked: Asked, row: Row) -> Bar:
    start, end = row["valid_from_at"], row["valid_to_at"] or asked.span.end
    if row["reason"] == "first_start":
        # What was before is not blank: nobody looked.
        return Bar(
            min(start, asked.span.start),
            end,
            "zklake did not watch this cluster yet",
            "gap",
            asked.link("quality"),
            "not watched yet",
        )
    title = f"coverage gap, {format_gap(row['reason'])}: {_measure(start, end)}"
    return Bar(start, end, title, "gap", asked.link("quality"), "not seen")


def _measure(start: datetime, end: datetime) -> str:
    return write_duration(max(0.0, (end - start).total_seconds()))
