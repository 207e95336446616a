"""Who owned which partition: a lane each, with the holes in which nobody did. Reads no table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from dashboard.charts import Bar, Lane
from dashboard.colours import colour_member, colour_partition
from dashboard.evidence import link_rows
from dashboard.page import Asked
from delta_tables.live.tables import Row
from zklake.phrases import format_end
from zklake.times import write_duration


def list_owner_lanes(asked: Asked, tenures: Iterable[Row]) -> list[Lane]:
    """One lane per partition, in the order of the rows."""
    parts: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in tenures:
        parts[(row["topic"], row["partition"])].append(row)
    return [
        Lane(
            f"{topic}-{number}",
            sorted(_draw_tenures(asked, f"{topic}-{number}", rows), key=lambda bar: bar.start),
            asked.link("topic", topic=topic),
            colour_partition(topic, number),
        )
        for (topic, number), rows in parts.items()
    ]


def _draw_tenures(asked: Asked, name: str, rows: list[Row]) -> Iterator[Bar]:
    for before, after in pairwise([*rows, None]):
        assert before is not None
        end = before["valid_to_at"] or asked.span.end
        owner, member = before["owner"] or "unknown owner", before["owner_member_id"]
        lasted = write_duration(max(0.0, (end - before["valid_from_at"]).total_seconds()))
        ended = f", {format_end(before['ended_by'])}" if before["ended_by"] else ""
        href = link_rows(
            asked, "ownership_history", before["valid_from_seq"], before["valid_from_at"]
        )
        yield Bar(
            before["valid_from_at"],
            end,
            f"{name} owned by {owner}: {lasted}{ended}",
            "" if member else "quiet",
            href,
            owner,
            colour_member(member) if member else "",
        )
        until = after["valid_from_at"] if after is not None else asked.span.end
        if until > end >= asked.span.start:
            lasted = write_duration((until - end).total_seconds())
            yield Bar(end, until, f"{name} without an owner: {lasted}", "hole", href, "no owner")
