"""The rows that Burrow's evaluation needs: commits, log ends and owners, up to a moment.

Reads; judges nothing (dashboard/dialects/burrow/evaluation.py does).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol

from dashboard.dialects.burrow.evaluation import LogEnd, Owner, Rules, fill_slots
from delta_tables.asking.moments import write_held
from delta_tables.reading import quote

Row = Mapping[str, Any]
Key = tuple[str, str, int]
Slots = dict[Key, list[tuple[int, int]]]
_DAY_MS = 86_400_000
# A row of log_ends may stand for a minute: what was before stands in the row before.
_BEFORE_MS = 120_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Commits nearer than min-distance share a slot: more are read than there are slots.
_COMMITS_PER_SLOT = 20
# 0.7 had partitions per broker, and a negative offset says that there is none.
_COMMITS = (
    "SELECT coordinator, group_id, topic, partition, committed_offset, valid_from_zxid, "
    "CAST(to_timestamp_millis(valid_from_at) AS BIGINT) AS at_ms FROM consumer_offsets "
    "WHERE broker_id IS NULL AND partition >= 0 AND committed_offset >= 0 "
    "AND valid_from_at IS NOT NULL"
)


class Ask(Protocol):
    """Rows of a query over these tables; none where one is not written yet."""

    def __call__(self, sql: str, *names: str) -> list[dict[str, Any]]:
        """Ask."""


@dataclass(frozen=True)
class LakeView:
    """The lake as somebody looks at it: its last state, as of `at`; or an earlier moment."""

    ask: Ask
    cluster: str
    at: datetime
    is_past: bool = False
    rules: Rules = field(default_factory=Rules)

    @property
    def at_ms(self) -> int:
        """Its moment."""
        return round(self.at.timestamp() * 1000)

    @property
    def held(self) -> str:
        """SQL: whether a row holds. Of now without a time, so that the same is asked again."""
        return write_held(self.at) if self.is_past else "is_open"

    def write(self, at_ms: int) -> str:
        """SQL: a moment; a clock that is wrong by ages counts as this moment."""
        return _write(_EPOCH + timedelta(milliseconds=min(max(at_ms, 0), self.at_ms)))


class Topic(NamedTuple):
    """A topic whose ends the brokers were asked for."""

    partitions: int
    # czxid: what was committed before it was committed to another topic of that name.
    incarnation: int | None


def read_last(sight: LakeView, groups: str) -> list[dict[str, Any]]:
    """The commits that stand, of each partition the later one of both coordinators'."""
    rows = sight.ask(f"{_COMMITS} AND {sight.held}{groups}", "consumer_offsets")
    return list({_name(row): row for row in sorted(rows, key=lambda row: row["at_ms"])}.values())


def read_slots(sight: LakeView, groups: str, last: Collection[Row]) -> Slots:
    """Burrow's slots of every partition whose last commit this is."""
    if not last:
        return {}
    latest_ms: dict[str, int] = {}
    for row in last:
        latest_ms[row["group_id"]] = max(row["at_ms"], latest_ms.get(row["group_id"], 0))
    since = sight.write(min(latest_ms.values()) - _DAY_MS)
    until = f" AND valid_to_at <= {_write(sight.at)}" if sight.is_past else ""
    sql = (
        f"{_COMMITS} AND NOT is_open AND closed_on >= CAST({since} AS DATE){until}{groups} "
        "QUALIFY row_number() OVER (PARTITION BY coordinator, group_id, topic, partition "
        f"ORDER BY valid_from_seq DESC) <= {_COMMITS_PER_SLOT * sight.rules.intervals} "
        "ORDER BY valid_from_seq"
    )
    commits: dict[tuple[Key, str], list[tuple[int, int]]] = {}
    for row in (*sight.ask(sql, "consumer_offsets"), *last):
        place = (_name(row), row["coordinator"])
        commits.setdefault(place, []).append((row["committed_offset"], row["at_ms"]))
    places = [(_name(row), row["coordinator"]) for row in last]
    return {place[0]: fill_slots(commits[place], sight.rules) for place in places}


def read_topics(sight: LakeView, those: str) -> dict[str, Topic]:
    """By name."""
    sql = (
        "SELECT topic, count(*) AS partitions, max(incarnation) AS incarnation FROM log_ends "  # noqa: S608
        f"WHERE {sight.held}{those} GROUP BY topic"
    )
    rows = sight.ask(sql, "log_ends")
    return {row["topic"]: Topic(row["partitions"], row["incarnation"]) for row in rows}


def is_of(commit: Row, topics: Mapping[str, Topic]) -> bool:
    """Whether a commit was made to a topic as it is now: Burrow drops the others."""
    topic, zxid = topics.get(commit["topic"]), commit["valid_from_zxid"]
    if topic is None or commit["partition"] >= topic.partitions:
        return False
    return zxid is None or topic.incarnation is None or zxid > topic.incarnation


def read_log_ends(sight: LakeView, those: str, slots: Slots) -> dict[tuple[str, int], list[LogEnd]]:
    """The curve of ends around the slots and in Burrow's ring; flat while it was confirmed."""
    if not slots:
        return {}
    last_ms = max(made[-1][1] for made in slots.values())
    first_ms = max(min(made[0][1] for made in slots.values()), last_ms - _DAY_MS)
    ring_ms = sight.at_ms - 1000 * sight.rules.offset_refresh_s * sight.rules.intervals
    earliest_ms = min(first_ms, ring_ms) - _BEFORE_MS
    first, last, ring = map(sight.write, (earliest_ms, last_ms, ring_ms - _BEFORE_MS))
    # The row that held then may hold more than one end: the curve goes on beyond the moment.
    until = f" AND valid_from_at <= {_write(sight.at)}" if sight.is_past else ""
    sql = (
        "SELECT topic, partition, log_end_offset, log_end_offset_last, "  # noqa: S608
        "CAST(to_timestamp_millis(sampled_at) AS BIGINT) AS from_ms, "
        "CAST(to_timestamp_millis(confirmed_at) AS BIGINT) AS to_ms, "
        "CAST(to_timestamp_millis(sampled_at_last) AS BIGINT) AS last_from_ms, "
        "CAST(to_timestamp_millis(confirmed_at_last) AS BIGINT) AS last_to_ms FROM log_ends "
        f"WHERE (is_open OR closed_on >= CAST({first} AS DATE) AND (valid_to_at >= {ring} "
        f"OR valid_to_at >= {first} AND valid_from_at <= {last})) "
        f"AND log_end_offset IS NOT NULL AND sampled_at IS NOT NULL{until}{those} "
        "ORDER BY sampled_at"
    )
    found: dict[tuple[str, int], list[LogEnd]] = {}
    for row in sight.ask(sql, "log_ends"):
        curve = found.setdefault((row["topic"], row["partition"]), [])
        times = dict.fromkeys((row["from_ms"], row["to_ms"] or row["from_ms"]))
        curve += [LogEnd(at_ms, row["log_end_offset"]) for at_ms in times]
        if row["log_end_offset_last"] not in (None, row["log_end_offset"]):
            times = dict.fromkeys((row["last_from_ms"], row["last_to_ms"]))
            curve += [LogEnd(at_ms, row["log_end_offset_last"]) for at_ms in times]
    return found


def read_owners(sight: LakeView, groups: str) -> dict[Key, Owner]:
    """By partition; of Kafka's own consumers Burrow says where they are, not their member id."""
    sql = (
        "SELECT coordinator, group_id, topic, partition, owner, owner_member_id "  # noqa: S608
        f"FROM ownership_history WHERE broker_id IS NULL AND {sight.held}{groups}"
    )
    rows = sight.ask(sql, "ownership_history")
    members = (
        "SELECT group_id, member_id, host, client_id FROM consumer_membership "  # noqa: S608
        f"WHERE coordinator = 'kafka' AND {sight.held}{groups}"
    )
    clients = {
        (row["group_id"], row["member_id"]): Owner(row["host"] or "", row["client_id"] or "")
        for row in sight.ask(members, "consumer_membership")
    }
    return {
        _name(row): clients.get((row["group_id"], row["owner_member_id"]), Owner())
        if row["coordinator"] == "kafka"
        else Owner(row["owner"] or "")
        for row in rows
    }


def _name(row: Row) -> Key:
    return row["group_id"], row["topic"], row["partition"]


def write_in(column: str, names: Iterable[str]) -> str:
    """SQL: and it is one of these."""
    texts = ", ".join(quote(name) for name in sorted(names))
    return f" AND {column} IN ({texts or 'NULL'})"


def _write(at: datetime) -> str:
    return f"TIMESTAMP '{at.astimezone(UTC).isoformat()}'"
