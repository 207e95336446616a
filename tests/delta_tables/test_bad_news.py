"""Examples whose answer on a sound cluster is empty: what they say of one that is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.delta_tables.view_lake import Row, ask, at, iso, pick, state
from tests.examples import EXAMPLES

SQL = {example.name: example.text for example in EXAMPLES}


def test_which_values_could_not_be_read(tmp_path: Path) -> None:
    def broken(begin: float, why: str | None, **columns: Any) -> Row:
        return state(begin, decode_error=why, **columns)

    place: Row = {"topic": "t", "partition": 3}
    rows: dict[str, list[Row]] = {
        "quarantine": [
            {"kafka_topic": "zklake.c", "kafka_offset": 7, "kafka_at": iso(6), "reason": "no event"}
        ],
        "broker_membership": [broken(5, "not JSON", broker_id=1), broken(0, None, broker_id=2)],
        "topics": [broken(4, "malformed", topic="t")],
        "partition_state": [broken(3, "not JSON", **place)],
        "consumer_membership": [
            broken(2, "malformed", group_id="g", member_id="m", coordinator="zookeeper")
        ],
        "consumer_offsets": [
            broken(1, "no number", group_id="g", coordinator="zookeeper", **place)
        ],
        "config_history": [broken(0, "not JSON", entity_type="topics", entity_name="t")],
    }
    found = ask(tmp_path, rows, SQL["unreadable_values"])
    assert pick(found, "found_in", "at", "reason", "what") == [
        ("config_history", at(0), "not JSON", "topics t"),
        ("consumer_offsets", at(1), "no number", "g t-3"),
        ("consumer_membership", at(2), "malformed", "m"),
        ("partition_state", at(3), "not JSON", "t-3"),
        ("topics", at(4), "malformed", "t"),
        ("broker_membership", at(5), "not JSON", "broker 1"),
        ("quarantine", at(6), "no event", "offset 7"),
    ]


def test_who_owns_what_another_should(tmp_path: Path) -> None:
    def member(name: str, end: float | None = None) -> Row:
        wish: Row = {"subscription": {"orders": 1}, "pattern": "static", "coordinator": "zookeeper"}
        return state(0, end, "session_ended", group_id="readers", member_id=name, **wish)

    def owner(partition: int, name: str) -> Row:
        place: Row = {"group_id": "readers", "topic": "orders", "partition": partition}
        who: Row = {"owner": f"{name}-0", "owner_member_id": name, "coordinator": "zookeeper"}
        return state(1 + partition, None, **place, **who)

    rows = {
        "topics": [state(0, topic="orders", replicas={number: [1] for number in range(4)})],
        "consumer_membership": [member("a"), member("b"), member("dead", 5)],
        "ownership_history": [owner(0, "a"), owner(1, "b"), owner(2, "dead"), owner(3, "b")],
    }
    found = ask(tmp_path, rows, SQL["wrong_owners"])
    assert pick(found, "group_id", "partition", "finding", "owner", "owned_since") == [
        ("readers", 1, "wrong_owner", "b-0", at(2)),
        ("readers", 2, "zombie", "dead-0", at(3)),
    ]
    assert [row["expected_owner"].split("-")[0] for row in found] == ["a", "b"]
