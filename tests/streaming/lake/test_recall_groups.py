"""What the driver reads back of Kafka-stored groups is what it knew of them; no JVM is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from streaming.fold.cluster_state import ClusterState
from streaming.fold.context import Context
from streaming.fold.recalling import recall_cluster_state
from streaming.lake import recall_groups
from zklake.events.envelope import Event
from zklake.events.samples import GroupState, Member, TopicPartitions

PARTITIONS = pa.struct([("topic", pa.string()), ("partitions", pa.list_(pa.int32()))])
MEMBER = pa.struct([("member_id", pa.string()), ("assignment", pa.list_(PARTITIONS))])
STATE = pa.struct(
    [
        ("group_id", pa.string()),
        ("state", pa.string()),
        ("generation", pa.int32()),
        ("protocol_type", pa.string()),
        ("members", pa.list_(MEMBER)),
        ("member_count", pa.int32()),
        ("tombstone", pa.bool_()),
    ]
)
ROUND = pa.struct(
    [("reason", pa.string()), ("partitions_behind", pa.int32()), ("complete_since_seq", pa.int64())]
)
ENDS = pa.struct([("round", pa.struct([("groups", ROUND)]))])
OWNS = Member("a", assignment=(TopicPartitions("t", (0,)),))
IDLE, UNREADABLE = Member("b", assignment=()), Member("c")
STATES = (
    GroupState("first", "Stable", 1, members=(UNREADABLE,), member_count=1),
    GroupState("first", "Stable", 2, members=(OWNS, IDLE), member_count=2),
    GroupState("second", "Stable", 1, "connect", members=(OWNS, UNREADABLE), member_count=2),
    GroupState("large", "Stable", 9, member_count=9_000),
    GroupState("empty", "Empty", 3, members=(), member_count=0),
    GroupState("gone", tombstone=True),
)


def write_events(lake: Path) -> DeltaTable:
    rows: list[dict[str, Any]] = [msgspec.to_builtins(state) for state in STATES]
    columns = {
        "op": pa.array(["group_state"] * len(rows)),
        "seq": pa.array(range(len(rows)), pa.int64()),
        "group_state": pa.array(rows, STATE),
        "log_ends": pa.nulls(len(rows), ENDS),
    }
    write_deltalake(lake, pa.table(columns))
    return DeltaTable(lake)


def test_groups_are_recalled_as_they_were_followed(tmp_path: Path) -> None:
    followed = ClusterState()
    for seq, state in enumerate(STATES):
        event = Event("c", "log", seq, "group_state", 5, group_state=state)
        followed.apply(event, Context())
    tables = {"znode_events": write_events(tmp_path / "znode_events")}
    groups = recall_groups._read_groups(tables, len(STATES))
    recalled = recall_cluster_state(group_rows=groups)
    assert recalled.kafka_groups == followed.kafka_groups
    told = {name: one.is_assigned for name, one in recalled.kafka_groups.items()}
    assert told == {"first": True, "second": False, "large": True, "empty": True}
