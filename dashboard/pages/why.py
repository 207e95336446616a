"""Why: what made a group's lag rise, each cause with the records that it added and its evidence."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from msgspec import Meta

from dashboard.incident import (
    BRIEF_REBALANCE,
    GROUP_HISTORY,
    INCIDENT_SHAPE,
    load_incident,
)
from dashboard.incident_view import draw_incident
from dashboard.openapi.params import Param
from dashboard.openapi.rows import WORDS, describe_any
from dashboard.openapi.shapes import Instant, Maybe, Named, choose, say
from dashboard.page import Asked, Data, Page
from dashboard.pages.group import COORDINATOR, scope_group
from dashboard.pages.groups import GROUP, READS, list_groups
from delta_tables.asking.explanation import CAUSES, Explanation, Rise, format_explanation
from delta_tables.asking.why import RiseFilter, explain_by, find_lag
from delta_tables.catalog import TABLES
from delta_tables.live.asker import SnapshotAsker
from delta_tables.live.span import Span
from delta_tables.reading import quote
from zklake.errors import QueryError
from zklake.times import write_time

# Enough for a day of rises, one after the other.
RiseNumber = Annotated[int, Meta(ge=1, le=10_000)]
# What an answer is made of: while none of these changes, it stays the same.
_INPUTS = (*READS, "root_cause", "group_lag_now", "log_gaps")


def load(asked: Asked) -> Data:
    """The answer about `group_id` in the hour before the range's end, and groups to choose from."""
    ranked = sorted(
        list_groups(asked.tables),
        key=lambda group: (-(group["severity"] or 0), -(group["lag"] or 0), group["group_id"]),
    )
    group_id = asked.params.get("group_id", "")
    data: Data = {"group_id": group_id, "answers": [], "error": None, "groups": ranked[:20]}
    if group_id:
        try:
            data["answers"] = [_write(one) for one in _explain(asked, group_id)]
        except QueryError as error:
            data["error"] = str(error)
    return data | {"incident": _load_around(asked, data)}


def _load_around(asked: Asked, data: Data) -> Data | None:
    """The first answer's group, in a range that has the rise in it."""
    if not data["answers"]:
        return None
    answer = data["answers"][0]
    span = _widen(asked.span, answer)
    # What the answer was made of, if the range does not begin before it.
    only = find_lag(data["group_id"], min(answer["searched_from"], span.start))
    seen = asked._replace(span=span, tables=asked.tables.narrow(only))
    coordinator, group_id = quote(answer["coordinator"]), quote(data["group_id"])
    where = f"coordinator = {coordinator} AND group_id = {group_id}"
    topics = seen.tables.query(_TOPICS.format(where=where), "offset_lag")
    scope = scope_group(where, [row["topic"] for row in topics])._replace(has_rebalances=True)
    times = {"from": seen.span.start, "to": seen.span.end}
    return {**times, **load_incident(seen, scope)}


def _widen(span: Span, answer: Data) -> Span:
    """As asked for; where the rise lies elsewhere, or is a small part, with some time around it."""
    if answer["rise"] is None:
        return span
    rise = answer["rises"][answer["rise"] - 1]
    start, end = rise["rise_from"], rise["rise_to"]
    is_seen = span.start <= start and end <= span.end
    if is_seen and (end - start).total_seconds() * 12 > span.seconds:
        return span
    around = max(end - start, timedelta(minutes=5))
    return Span(start - around, end + around)


def draw(asked: Asked, data: Data) -> dict[str, Markup]:
    """All that happened around the rises, and the causes of each by their numbers."""
    around = data["incident"]
    if around is None:
        return {}
    seen = asked._replace(span=Span(around["from"], around["to"]))
    answer = data["answers"][0]
    rises = [
        {
            "number": number,
            "from": write_time(rise["rise_from"]),
            "to": write_time(rise["rise_to"]),
            "says": f"rise {number}: {rise['added']:,} records",
            "href": asked.link("why", group_id=data["group_id"], rise=number),
            "causes": [_mark(cause, place) for place, cause in enumerate(rise["causes"], start=1)]
            if number == answer["rise"]
            else [],
        }
        for number, rise in enumerate(answer["rises"], start=1)
    ]
    return draw_incident(seen, around) | {"causes": htmlsafe_json_dumps(rises)}


def _mark(cause: Data, number: int) -> Data:
    share = f"{100 * cause['share']:.0f} %"
    return {
        "number": number,
        "from": write_time(cause["began_at"]),
        "to": write_time(cause["ended_at"]),
        "says": f"cause {number}: {cause['records']:,} records, {share}: {cause['says']}",
    }


def _explain(asked: Asked, group_id: str) -> list[Explanation]:
    end, known = asked.span.end, asked.pulse.watermark_at
    if asked.span.last:
        # Whoever asks about now means what is known, as long as that is fresh. A range that moves
        # with the clock asks the same for a minute.
        end = min(end, known) if known and not asked.pulse.is_stale else end
        end = end.replace(second=0, microsecond=0)
    is_long = asked.span.last is not None and asked.span.seconds > 3600
    number = int(asked.params["rise"]) if asked.params.get("rise") else None
    wanted = RiseFilter(group_id, None if is_long else end, asked.options.least_rise, number)

    def ask() -> list[Explanation]:
        return explain_by(SnapshotAsker(asked.tables), wanted)

    found = asked.tables.derive(("why", wanted, end), _INPUTS, ask)
    # ZooKeeper and Kafka may both have a group of that name.
    chosen = asked.params.get("coordinator")
    return [one for one in found if one.coordinator == chosen] or found


def _write(one: Explanation) -> Data:
    return {
        "coordinator": one.coordinator,
        "searched_from": one.searched_from,
        "searched_to": one.searched_to,
        "rise": None if one.chosen is None else one.rises.index(one.chosen) + 1,
        "rises": [_write_rise(rise) for rise in one.rises],
        "says": list(format_explanation(one)),
        "doubts": one.doubts,
    }


def _write_rise(rise: Rise) -> Data:
    names = ("rise_from", "rise_to", "lag_before", "lag_after", "added", "peak_lag")
    causes = [
        {name: getattr(cause, name) for name in (*_CAUSE_COLUMNS, "says", "rows")}
        | {"table": cause.source_table}
        for cause in rise.causes
    ]
    return {**{name: getattr(rise, name) for name in names}, "causes": causes}


_TOPICS = """
SELECT DISTINCT topic
FROM offset_lag
WHERE is_open AND {where}
"""
_CAUSE_COLUMNS = ("cause", "entity", "records", "share", "began_at", "ended_at", "partitions")
_CAUSE = Named(
    "Cause",
    {
        "cause": say(choose(*CAUSES), "what added the records: docs/causes.md"),
        "entity": say(str, "whose doing it was"),
        "says": str,
        "records": say(int, "records that it added; those of all causes add up to the rise"),
        "share": say(float, "of all that the rise added, 0 to 1"),
        "began_at": Instant,
        "ended_at": Instant,
        "partitions": list[str],
        "rows": [describe_any(tuple(table for table in TABLES if table.is_interval))],
        "table": say(str | None, "the table of these rows"),
    },
)
_RISE = Named(
    "Rise",
    {
        "rise_from": Instant,
        "rise_to": Instant,
        "lag_before": int,
        "lag_after": int,
        "added": int,
        "peak_lag": say(int, "the highest lag that pages show within it"),
        "causes": [_CAUSE],
    },
)
# Not live: an answer takes a while, and is about a past moment.
PAGE = Page(
    "why",
    "Why",
    load,
    draw=draw,
    params=(
        Param("group_id", str, "The group whose lag rose.", ("billing",)),
        COORDINATOR,
        Param("rise", RiseNumber, "Which rise of that time to show: 1 is the first.", ("1",)),
    ),
    answer={
        "group_id": str,
        "answers": [
            {
                "coordinator": choose(*WORDS["coordinator"]),
                "searched_from": Instant,
                "searched_to": Instant,
                "rise": say(int | None, "the number of the rise that is explained in full"),
                "rises": [_RISE],
                "says": say(list[str], "the answer in sentences"),
                "doubts": list[str],
            }
        ],
        "error": str | None,
        "groups": [GROUP],
        "incident": Maybe(
            {
                "from": say(Instant, "the time range that is shown around the rise"),
                "to": Instant,
                **GROUP_HISTORY,
                "rebalances": [BRIEF_REBALANCE],
                **INCIDENT_SHAPE,
            }
        ),
    },
)
