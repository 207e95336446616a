"""What it cost that brokers were away: leaders that moved, shorter ISRs, groups that waited."""

from __future__ import annotations

from datetime import datetime, timedelta

from dashboard.lives import LIFE, list_lives
from dashboard.openapi.shapes import Instant, Named, say
from delta_tables.live.span import Span, write_timestamp
from delta_tables.live.tables import Row, Tables
from zklake.phrases import format_count, format_end
from zklake.times import write_duration

_MOST = 50
_NAMED = 2
# A controller that sees a session end first may write before the broker's znode is gone.
_BEFORE = timedelta(seconds=10)
_STATES = """
WITH away AS (
  SELECT * FROM (VALUES {away}) AS t(number, broker_id, left_at, back_at, next_at)
), states AS (
  SELECT topic, partition, leader, isr, valid_from_at AS at,
    lag(leader) OVER same AS leader_before, lag(isr) OVER same AS isr_before
  FROM partition_state
  WHERE {overlap}
  WINDOW same AS (PARTITION BY topic, partition, czxid ORDER BY valid_from_seq)
), changes AS (
  SELECT away.number, states.at, topic || '-' || partition AS name,
    leader_before = broker_id AND leader <> broker_id AND at < back_at AS is_moved,
    array_has(isr_before, broker_id) AND NOT array_has(isr, broker_id) AND at < back_at AS is_out,
    array_has(isr, broker_id) AND NOT array_has(isr_before, broker_id) AS is_back
  FROM states
  JOIN away ON states.at >= away.left_at - INTERVAL '10 seconds' AND states.at < away.next_at
  WHERE isr_before IS NOT NULL
)
SELECT number, count(DISTINCT name) FILTER (WHERE is_moved) AS leaders_moved,
  count(DISTINCT name) FILTER (WHERE is_out) AS shortened,
  count(DISTINCT name) FILTER (WHERE is_back) AS rejoined,
  min(at) FILTER (WHERE is_out) AS short_from, max(at) FILTER (WHERE is_back) AS short_to
FROM changes
GROUP BY number
"""
_PAUSES = """
SELECT broker_id, group_id, from_at, to_at, least_ms, records
FROM pause_spans
WHERE held = 'leader_away' AND broker_id IS NOT NULL AND to_at >= {start}
"""
ABSENCE = Named(
    "Absence",
    {
        "broker_id": int,
        "left_at": Instant,
        "back_at": say(Instant | None, "null: it is still away"),
        "away_s": float,
        "ended_by": LIFE.shape["ended_by"],
        "exit": LIFE.shape["exit"],
        "exit_evidence": str | None,
        "leaders_moved": say(int, "partitions that it led, and another broker took over"),
        "shortened": say(int, "partitions whose ISR it fell out of"),
        "short_s": say(float | None, "from the first ISR without it to the last one with it again"),
        "is_short_still": say(bool, "whether some of them are still without it"),
        "paused": [{"group_id": str, "seconds": float}],
        "records": say(int | None, "records that came while their partition had no leader"),
    },
)


def list_absences(
    tables: Tables, span: Span, now: datetime, broker_id: int | None = None
) -> list[Row]:
    """Those that began in the range, or still lasted in it, the newest first."""
    absences = _find(tables, span, now, broker_id)
    if not absences:
        return []
    states = {row["number"]: row for row in _ask_states(tables, absences)}
    start = write_timestamp(min(row["left_at"] for row in absences))
    pauses = tables.query(_PAUSES.format(start=start), "pause_spans")
    return [_price(row, states.get(number), pauses, now) for number, row in enumerate(absences)]


def _find(tables: Tables, span: Span, now: datetime, broker_id: int | None) -> list[Row]:
    by_broker: dict[int, list[Row]] = {}
    for life in list_lives(tables):
        if broker_id in (None, life["broker_id"]):
            by_broker.setdefault(life["broker_id"], []).append(life)
    found = []
    for lives in by_broker.values():
        for life, after in zip(lives, [*lives[1:], None], strict=True):
            left, back = life["left_at"], after["came_at"] if after else None
            # One that left ZooKeeper for KRaft is not away.
            if left is None or life["ended_by"] == "migrated":
                continue
            if left < span.end and (back or now) > span.start:
                following = after["left_at"] if after else None
                found.append({**life, "back_at": back, "next_at": following})
    found.sort(key=lambda row: row["left_at"], reverse=True)
    return found[:_MOST]


def _ask_states(tables: Tables, absences: list[Row]) -> list[Row]:
    far = datetime.fromisoformat("2199-01-01T00:00:00+00:00")
    away = ", ".join(
        f"({number}, {row['broker_id']}, {write_timestamp(row['left_at'])}, "
        f"{write_timestamp(row['back_at'] or far)}, {write_timestamp(row['next_at'] or far)})"
        for number, row in enumerate(absences)
    )
    overlap = Span(min(row["left_at"] for row in absences) - _BEFORE, far).write_overlap()
    return tables.query(_STATES.format(away=away, overlap=overlap), "partition_state")


def _price(absence: Row, states: Row | None, pauses: list[Row], now: datetime) -> Row:
    left, back = absence["left_at"], absence["back_at"]
    mine = [
        row
        for row in pauses
        if row["broker_id"] == absence["broker_id"]
        and row["to_at"] > left - _BEFORE
        and row["from_at"] < (back or now)
    ]
    seconds: dict[str, float] = {}
    for row in mine:
        waited = (row["least_ms"] or 0) / 1000
        seconds[row["group_id"]] = max(waited, seconds.get(row["group_id"], 0.0))
    short = states["shortened"] if states else 0
    is_still = bool(states) and states is not None and states["rejoined"] < short
    begun = states["short_from"] if states else None
    ended = now if is_still else states["short_to"] if states else None
    known = [row["records"] for row in mine if row["records"] is not None]
    return {
        **{name: absence[name] for name in ("broker_id", "left_at", "back_at")},
        **{name: absence[name] for name in ("ended_by", "exit", "exit_evidence")},
        "away_s": ((back or now) - left).total_seconds(),
        "leaders_moved": states["leaders_moved"] if states else 0,
        "shortened": short,
        "short_s": max(0.0, (ended - begun).total_seconds()) if begun and ended else None,
        "is_short_still": is_still,
        "paused": [
            {"group_id": group, "seconds": waited}
            for group, waited in sorted(seconds.items(), key=lambda one: -one[1])
        ],
        "records": sum(known) if known else None,
    }


def format_absence(row: Row) -> str:
    """`broker 2 left (session ended): 3 leaders moved, group readers paused 27 s`."""
    why = format_end(row["ended_by"], row["exit"])
    costs = format_cost(row)
    return f"broker {row['broker_id']} left ({why})" + (f": {costs}" if costs else "")


def format_cost(row: Row) -> str:
    """The consequences alone; empty where there are none."""
    said = []
    if row["leaders_moved"]:
        said.append(f"{format_count(row['leaders_moved'], 'leader')} moved")
    if row["shortened"]:
        lasted = f" for {write_duration(row['short_s'])}" if row["short_s"] is not None else ""
        still = " so far" if row["is_short_still"] else ""
        count = format_count(row["shortened"], "partition")
        said.append(f"{count} under-replicated{lasted}{still}")
    for one in row["paused"][:_NAMED]:
        said.append(f"group {one['group_id']} paused {write_duration(one['seconds'])}")
    if (more := len(row["paused"]) - _NAMED) > 0:
        said.append(f"{format_count(more, 'more group')} paused")
    return ", ".join(said)
