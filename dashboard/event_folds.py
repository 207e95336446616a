"""Events that belong together, made one: a topic's creation, a departure, a restless group."""

from __future__ import annotations

from datetime import datetime, timedelta

from delta_tables.live.tables import Row
from zklake.phrases import format_count

# What belongs to the creation of a topic, or to the departure of a broker, comes so soon after it.
_NEAR = timedelta(seconds=15)
# Rebalances of one group that follow each other so closely are one line.
_TOGETHER = timedelta(minutes=2)


def fold_events(rows: list[Row], absences: list[Row]) -> list[Row]:
    """The newest first, as they came; each has a `source`, the table it comes from, or none."""
    return _fold_rebalances(_fold_topics(_fold_departures(rows, absences)))


def _fold_departures(rows: list[Row], absences: list[Row]) -> list[Row]:
    """Leaders that were lost when a broker left are part of its line."""
    gone = [row["left_at"] for row in absences if row["leaders_moved"]]
    return [
        row
        for row in rows
        if row.get("source") != "partition_state"
        or not any(abs(row["at"] - at) <= _NEAR for at in gone)
    ]


def _fold_topics(rows: list[Row]) -> list[Row]:
    """Configs, leaders and groups' first sight of a new topic are part of its creation."""
    made = [row for row in rows if row.get("source") == "topics"]
    kept = []
    for row in rows:
        topic = _name_topic(row)
        parent = next((one for one in made if _belongs(row, one, topic)), None)
        if parent is None:
            kept.append(row)
        elif row["source"] == "config_history" and not parent["is_gone"]:
            value = f"{row['config_key']}{'' if row['value'] is None else ' = ' + row['value']}"
            parent["text"] += f", {value}"
    return kept


def _name_topic(row: Row) -> str | None:
    if row.get("source") == "config_history":
        return row["entity_name"] if row["entity_type"] == "topics" else None
    if row.get("source") == "offset_lag":
        name: str | None = row["topic_name"]
        return name
    return row.get("topic")


def _belongs(row: Row, topic: Row, name: str | None) -> bool:
    if row is topic or row.get("source") is None or abs(row["at"] - topic["at"]) > _NEAR:
        return False
    # Which topics lost their leaders is not shown: with a creation, they are those of the new one.
    return bool(row["source"] == "partition_state" or name == topic["topic"])


def _fold_rebalances(rows: list[Row]) -> list[Row]:
    """One line for a group that rebalances again and again: the newest trigger, and how many."""
    kept: list[Row] = []
    last: dict[str, tuple[Row, datetime, int]] = {}
    for row in rows:
        if row.get("source") != "rebalances":
            kept.append(row)
            continue
        known = last.get(row["group_id"])
        if known is not None and known[1] - row["at"] <= _TOGETHER:
            first, count = known[0], known[2] + 1
            last[row["group_id"]] = (first, row["at"], count)
            first["text"] = (
                f"{first['said']}; {format_count(count - 1, 'more rebalance')} just before"
            )
        else:
            row["said"] = row["text"]
            last[row["group_id"]] = (row, row["at"], 1)
            kept.append(row)
    return kept
