"""What Burrow's evaluation needs of one group, read from the lake, up to any moment.

Two things are coarser here than in Burrow: log ends are kept once a minute, not every 10 s, and a
Kafka commit of an equal offset is no row of its own, so its STALL shows as STOP.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from delta_tables import reading
from delta_tables.burrow import GroupStatus, History, LogEnd, Rules, evaluate_group
from delta_tables.lakes import Lake
from delta_tables.moments import write_held
from delta_tables.reading import quote

Key = tuple[str, int]


def read_group(
    lake: Lake, coordinator: str, group_id: str, at: datetime, rules: Rules | None = None
) -> GroupStatus:
    """A group's status at a moment, from the lake."""
    rules, at = rules or Rules(), at.astimezone(UTC)
    place = (lake.cluster, coordinator, group_id)
    histories = _read_histories(lake, coordinator, group_id, at, rules)
    return evaluate_group(place, histories, _to_ms(at), rules)


def _read_histories(
    lake: Lake, coordinator: str, group_id: str, at: datetime, rules: Rules
) -> list[History]:
    group = f"coordinator = {quote(coordinator)} AND group_id = {quote(group_id)}"
    commits = _read_commits(lake, group, at, rules)
    if not commits:
        return []
    ends, owners = _read_log_ends(lake, commits, at), _read_owners(lake, group, at)
    return [
        History(*key, owners.get(key, ""), made, ends.get(key, ())) for key, made in commits.items()
    ]


def _read_commits(
    lake: Lake, group: str, at: datetime, rules: Rules
) -> dict[Key, list[tuple[int, int]]]:
    # Commits nearer than min-distance share a slot: more are read than there are slots.
    sql = (
        "SELECT topic, partition, committed_offset, valid_from_at FROM consumer_offsets "  # noqa: S608
        f"WHERE {group} AND broker_id IS NULL AND committed_offset IS NOT NULL "
        f"AND valid_from_at <= {_write(at)} QUALIFY row_number() OVER ("
        f"PARTITION BY topic, partition ORDER BY valid_from_seq DESC) <= {20 * rules.intervals} "
        "ORDER BY topic, partition, valid_from_seq"
    )
    found: dict[Key, list[tuple[int, int]]] = {}
    for row in _read(lake, "consumer_offsets", sql):
        commit = (row["committed_offset"], _to_ms(row["valid_from_at"]))
        found.setdefault((row["topic"], row["partition"]), []).append(commit)
    return found


def _read_log_ends(
    lake: Lake, commits: Mapping[Key, list[tuple[int, int]]], at: datetime
) -> dict[Key, list[LogEnd]]:
    topics = ", ".join(quote(topic) for topic in sorted({topic for topic, _ in commits}))
    first_ms = min(at_ms for made in commits.values() for _, at_ms in made)
    since = _write(datetime.fromtimestamp(first_ms / 1000, UTC))
    sql = (
        "SELECT topic, partition, log_end_offset, sampled_at FROM log_ends "  # noqa: S608
        f"WHERE topic IN ({topics}) AND log_end_offset IS NOT NULL AND sampled_at <= {_write(at)} "
        f"AND (is_open OR valid_to_at >= {since}) ORDER BY sampled_at"
    )
    found: dict[Key, list[LogEnd]] = {}
    for row in _read(lake, "log_ends", sql):
        known = LogEnd(_to_ms(row["sampled_at"]), row["log_end_offset"])
        found.setdefault((row["topic"], row["partition"]), []).append(known)
    return found


def _read_owners(lake: Lake, group: str, at: datetime) -> dict[Key, str]:
    sql = (
        f"SELECT topic, partition, owner FROM ownership_history WHERE {group} "  # noqa: S608
        f"AND broker_id IS NULL AND {write_held(at)}"
    )
    rows = _read(lake, "ownership_history", sql)
    return {(row["topic"], row["partition"]): row["owner"] or "" for row in rows}


def _read(lake: Lake, name: str, sql: str) -> list[dict[str, Any]]:
    opened = reading.open_table(lake.path, lake.cluster, name)
    return [] if opened is None else reading.query_rows({name: opened}, sql)


def _to_ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def _write(at: datetime) -> str:
    return f"TIMESTAMP '{at.isoformat()}'"
