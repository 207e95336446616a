"""What a column means, for whoever points at its header: the comments of the catalogue."""

from __future__ import annotations

from markupsafe import Markup

from delta_tables.catalog import TABLE_BY_NAME

# What pages compute; all else is a column of a table, as `table.column`.
_OWN = {
    "members": "members that are in the group",
    "partitions": "partitions with a committed offset or an owner",
    "unowned": "partitions that no member owns: nobody reads them",
    "rebalances": "rebalances in the time range",
    "trend": "records per second by which the lag grows; negative: the group is catching up",
    "lag_line": "total lag over the time range; the highest point is as high as the line",
    "produced_line": "records per second over the time range; each line is as high as its own peak",
    "produced": "records per second that arrived, over the last minutes of the time range",
    "last_commit": "how long ago the group last committed an offset",
    "offline": "partitions without a leader, or with one that is not registered",
    "under_replicated": "partitions whose ISR is smaller than their replica list",
    "not_preferred": "partitions led by another replica than the first of their list",
    "changes": "changes of leader, ISR or epoch in the time range",
    "records": "records in the log now: log end less log start, over all partitions",
    "replication_factor": "replicas of each partition",
    "leads": "partitions that it leads",
    "in_sync": "partitions that have it in their ISR",
    "departures": "how often its registration went away in the time range",
    "leaders_moved": "partitions that it led, and another broker took over",
    "shortened": "partitions whose ISR it fell out of, and the longest time until it was back",
    "paused": "groups that could not read because a partition had no leader, and for how long",
    "waited": "records that came while nobody could read them",
}
_STATUSES = {
    "OK": "none of the rules for a worse status holds",
    "WARN": "there is lag, and it has grown without falling for a while",
    "REWIND": "the committed offset was set back",
    "ABANDONED": "neither a reader nor progress for a week",
    "UNOWNED": "the group has members, but none owns the partition",
    "STALLED": "it has an owner and lag, but the committed offset does not move",
    "STOPPED": "there is lag, and no member to read it",
}


def find_hint(about: str) -> str:
    """By `table.column`, or a name of ours; empty where nobody says it."""
    table, _, column = about.partition(".")
    if not column:
        return _OWN.get(about, "")
    return next((one.comment for one in TABLE_BY_NAME[table].columns if one.name == column), "")


def write_head(title: str, about: str = "", is_number: bool = False) -> Markup:
    """A header cell that says what its column means."""
    hint = find_hint(about) if about else ""
    return Markup('<th scope="col"{}{}>{}</th>').format(
        Markup(' class="number"') if is_number else "",
        Markup(' title="{}"').format(hint) if hint else "",
        title,
    )


def explain_status(word: str | None) -> str:
    """What a status means; docs/status.md has the rules."""
    return "not measured: no lag is known" if word is None else _STATUSES.get(word, "")
