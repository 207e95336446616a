"""Why: the likely causes of a rise in a group's lag, each with its evidence."""

from __future__ import annotations

from dashboard.openapi.params import Param
from dashboard.openapi.rows import WORDS, describe_any
from dashboard.openapi.shapes import Instant, Maybe, Named, choose, say
from dashboard.page import Asked, Data, Page
from dashboard.pages.groups import GROUP, READS, list_groups
from delta_tables.asking.explanation import Explanation, tell
from delta_tables.asking.lakes import Lake
from delta_tables.asking.why import explain
from delta_tables.catalog import TABLES
from zklake.errors import QueryCancelled, QueryError

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
    return data


def _explain(asked: Asked, group_id: str) -> list[Explanation]:
    end, known = asked.span.end, asked.pulse.watermark_at
    if asked.span.last:
        # Whoever asks about now means what is known, as long as that is fresh. A range that moves
        # with the clock asks the same for a minute.
        end = min(end, known) if known and not asked.pulse.is_stale else end
        end = end.replace(second=0, microsecond=0)
    lakes = [Lake(asked.options.lake, asked.options.cluster)]
    is_long = asked.span.last is not None and asked.span.seconds > 3600
    at = None if is_long else end

    def ask() -> list[Explanation]:
        with asked.turns.take(asked.cancellation):
            return explain(lakes, group_id, at, asked.options.limits, asked.cancellation)

    while True:
        try:
            return asked.tables.derive(("why", group_id, end, is_long), _INPUTS, ask)
        except QueryCancelled:
            if asked.cancellation.is_cancelled:
                raise
            # Who asked the same before us has left: now it is ours to ask.


def _write(one: Explanation) -> Data:
    return {
        "coordinator": one.coordinator,
        "searched_from": one.searched_from,
        "searched_to": one.searched_to,
        "rise": one.rise,
        "says": list(tell(one)),
        "causes": [
            {
                "at": cause.at,
                "says": cause.says,
                "score": cause.score,
                "rows": cause.rows,
                "table": cause.source_table,
            }
            for cause in one.causes
        ],
        "doubts": one.doubts,
    }


# Not live: an answer takes a while, and is about a past moment.
_CAUSE = Named(
    "Cause",
    {
        "at": Instant,
        "says": str,
        "score": say(float, "how directly it adds lag; lower, the longer before the rise"),
        "rows": [describe_any(tuple(table for table in TABLES if table.is_interval))],
        "table": say(str | None, "the table of these rows"),
    },
)
PAGE = Page(
    "why",
    "Why",
    load,
    params=(Param("group_id", str, "The group whose lag rose.", ("billing",)),),
    answer={
        "group_id": str,
        "answers": [
            {
                "coordinator": choose(*WORDS["coordinator"]),
                "searched_from": Instant,
                "searched_to": Instant,
                "rise": Maybe(
                    {
                        "rise_from": Instant,
                        "rise_to": Instant,
                        "lag_before": int,
                        "lag_after": int,
                        "added": int,
                    }
                ),
                "says": say(list[str], "the answer in sentences"),
                "causes": [_CAUSE],
                "doubts": list[str],
            }
        ],
        "error": str | None,
        "groups": [GROUP],
    },
)
