"""What was otherwise at a moment than it is now, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dashboard.moment.snapshot import MomentState
from dashboard.openapi.shapes import Named, choose
from delta_tables.live.span import write_timestamp
from delta_tables.live.tables import Row
from zklake.phrases import format_count

_NAMED = 4
# States that have ended since then beside those that hold now: what never ended is the same.
_LEADERS = """
SELECT was.topic, was.partition, was.leader AS leader_then, now.leader AS leader_now,
  array_to_string(array_sort(was.isr), ', ') AS isr_then,
  array_to_string(array_sort(now.isr), ', ') AS isr_now,
  count(*) FILTER (WHERE was.leader IS DISTINCT FROM now.leader) OVER () AS moved,
  count(*) OVER () AS total
FROM (SELECT * FROM partition_state WHERE NOT is_open AND {held}{wanted}) AS was
JOIN (SELECT * FROM partition_state WHERE is_open) AS now
  ON now.topic = was.topic AND now.partition = was.partition
WHERE (was.leader IS DISTINCT FROM now.leader)
  OR (array_to_string(array_sort(was.isr), ',') IS DISTINCT FROM
    array_to_string(array_sort(now.isr), ','))
ORDER BY (was.leader IS NOT DISTINCT FROM now.leader), was.topic, was.partition
LIMIT 200
"""
_OWNERS = """
SELECT was.coordinator, was.group_id, count(*) AS moved,
  first_value(
    was.topic || '-' || was.partition || ': ' || was.owner || ' → ' || coalesce(now.owner, 'none')
    ORDER BY was.topic, was.partition) AS example
FROM (SELECT * FROM ownership_history WHERE NOT is_open AND {held}{wanted}) AS was
LEFT JOIN (SELECT * FROM ownership_history WHERE is_open) AS now
  ON now.coordinator = was.coordinator AND now.group_id = was.group_id
  AND now.topic = was.topic AND now.partition = was.partition
WHERE was.owner IS DISTINCT FROM now.owner
GROUP BY was.coordinator, was.group_id
ORDER BY moved DESC, was.group_id
LIMIT 20
"""
_TOPICS = """
SELECT topic, max(then_) AS was, max(now_) AS is_now
FROM (
  SELECT topic, 1 AS then_, 0 AS now_ FROM topics WHERE NOT is_open AND {held}{wanted}
  UNION ALL
  SELECT topic, 0, 1 FROM topics WHERE is_open AND valid_from_at > {at}{wanted}
)
GROUP BY topic
HAVING max(then_) <> max(now_)
ORDER BY topic
LIMIT 20
"""
_CONFIGS = """
SELECT was.entity_type, was.entity_name, was.config_key, was.value AS value_then,
  now.value AS value_now, was.is_redacted OR coalesce(now.is_redacted, false) AS is_redacted
FROM (SELECT * FROM config_history
  WHERE config_key IS NOT NULL AND NOT is_open AND {held}{wanted}) AS was
LEFT JOIN (SELECT * FROM config_history WHERE is_open) AS now
  ON now.entity_type = was.entity_type AND now.config_key = was.config_key
  AND coalesce(now.entity_name, '') = coalesce(was.entity_name, '')
  AND coalesce(now.client_id, '') = coalesce(was.client_id, '')
WHERE was.value IS DISTINCT FROM now.value
ORDER BY was.entity_type, was.entity_name, was.config_key
LIMIT 20
"""
_CONTROLLER = "SELECT controller_id, controller_epoch FROM controller WHERE is_open"

DIFFERENCE = Named(
    "Difference",
    {
        "kind": choose("broker", "controller", "topic", "partition", "owner", "config"),
        "text": str,
        "group_id": str | None,
        "topic": str | None,
        "broker_id": int | None,
    },
)


class _Said(NamedTuple):
    kind: str
    text: str
    group_id: str | None = None
    topic: str | None = None
    broker_id: int | None = None


def list_differences(moment: MomentState, snapshot: Row) -> list[Row]:
    """Sentences, the gravest first; none where nothing differs."""
    found = [
        *_compare_brokers(snapshot),
        *_compare_controller(moment, snapshot),
        *_compare_topics(moment),
        *_compare_partitions(moment),
        *_compare_owners(moment),
        *_compare_configs(moment),
    ]
    return [one._asdict() for one in found]


def _compare_brokers(snapshot: Row) -> Iterator[_Said]:
    for row in snapshot["brokers"]:
        broker = row["broker_id"]
        if row["is_up"] != row["is_up_now"]:
            text = "was up, is down now" if row["is_up"] else "was down, is up now"
            yield _Said("broker", f"broker {broker} {text}", broker_id=broker)


def _compare_controller(moment: MomentState, snapshot: Row) -> Iterator[_Said]:
    then = snapshot["controller"]
    now = next(iter(moment.tables.query(_CONTROLLER, "controller")), None)
    if now is None or then is None:
        return
    if then["controller_id"] != now["controller_id"]:
        who = [_name_controller(row) for row in (then, now)]
        yield _Said("controller", f"controller was {who[0]}, is {who[1]} now")


def _name_controller(row: Row) -> str:
    return "nobody" if row["controller_id"] is None else f"broker {row['controller_id']}"


def _compare_topics(moment: MomentState) -> Iterator[_Said]:
    at = write_timestamp(moment.at)
    for row in moment.ask(_TOPICS, "topics", about="topics", at=at):
        text = "is gone now" if row["was"] else "did not exist yet"
        yield _Said("topic", f"topic {row['topic']} {text}", topic=row["topic"])


def _compare_partitions(moment: MomentState) -> Iterator[_Said]:
    rows = moment.ask(_LEADERS, "partition_state", about="partition_state")
    if not rows:
        return
    moved, total = rows[0]["moved"], rows[0]["total"]
    led = [row for row in rows if row["leader_then"] != row["leader_now"]]
    short = [row for row in rows if row["leader_then"] == row["leader_now"]]
    one = rows[0]["topic"] if len({row["topic"] for row in rows}) == 1 else None
    if moved:
        names = _name_some(led, "leader", moved)
        yield _Said(
            "partition",
            f"{format_count(moved, 'partition')} had another leader: {names}",
            topic=one,
        )
    if total > moved:
        names = _name_some(short, "isr", total - moved)
        yield _Said(
            "partition",
            f"{format_count(total - moved, 'partition')} had another ISR: {names}",
            topic=one,
        )


def _name_some(rows: list[Row], what: str, total: int) -> str:
    some = [
        f"{row['topic']}-{row['partition']} ({row[f'{what}_then']} → {row[f'{what}_now']})"
        for row in rows[:_NAMED]
    ]
    return ", ".join(some) + (f" and {total - len(some):,} more" if total > len(some) else "")


def _compare_owners(moment: MomentState) -> Iterator[_Said]:
    for row in moment.ask(_OWNERS, "ownership_history", about="ownership_history"):
        count, more = format_count(row["moved"], "partition"), row["moved"] - 1
        tail = f" and {more:,} more" if more else ""
        text = f"group {row['group_id']}: {count} had another owner ({row['example']}{tail})"
        yield _Said("owner", text, group_id=row["group_id"])


def _compare_configs(moment: MomentState) -> Iterator[_Said]:
    for row in moment.ask(_CONFIGS, "config_history", about="config_history"):
        entity = f"{row['entity_type'].removesuffix('s')} {row['entity_name'] or ''}".strip()
        values = [_write_value(row[name]) for name in ("value_then", "value_now")]
        said = "changed" if row["is_redacted"] else f"was {values[0]}, is {values[1]} now"
        topic = row["entity_name"] if row["entity_type"] == "topics" else None
        yield _Said("config", f"{entity}: {row['config_key']} {said}", topic=topic)


def _write_value(value: str | None) -> str:
    return "not set" if value is None else value or "empty"
