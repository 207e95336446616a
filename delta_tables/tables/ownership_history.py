"""ownership_history: who consumed each partition of a group, and when nobody did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.observation import of_path, of_payload, read_key_number
from delta_tables.samples import KAFKA, Sample, Samples, end_unnamed, find_time, list_members
from delta_tables.table import ZNODE_ENDS, Column, Table
from delta_tables.tables.consumer_membership import COORDINATOR, GROUP_ID
from zklake.events.envelope import Event
from zklake.events.payloads.reading import LARGEST_INT


def _split_name(name: str) -> tuple[Any, Any]:
    """(broker, partition): 0.7 names the znode [broker]-[partition], later releases [partition]."""
    broker, dash, partition = name.rpartition("-")
    return read_key_number(broker) if dash else None, read_key_number(partition)


_TOPIC = Column("topic", "STRING", "name of the topic", of_path(4), required=True)
_PARTITION = Column(
    "partition",
    "INT",
    "number of the partition",
    lambda seen: _split_name(seen.parts[5])[1],
    required=True,
)
_BROKER_ID = Column(
    "broker_id",
    "INT",
    "0.7 only: the broker whose partition it is; null since 0.8",
    lambda seen: _split_name(seen.parts[5])[0],
)

# What a row of a group is about, and its key.
GROUP_PARTITION = (CLUSTER, COORDINATOR, GROUP_ID, _TOPIC, _PARTITION, _BROKER_ID)


def _read_assignment(event: Event) -> Iterator[Sample]:
    """Who is assigned what."""
    group = event.group_state
    if group is None:
        return
    at_ms = find_time(event, group.at_ms)
    for member in list_members(group):
        values = {"owner": member.member_id, "owner_member_id": member.member_id}
        for topic in member.assignment or ():
            for partition in topic.partitions:
                if 0 <= partition <= LARGEST_INT:
                    key = (KAFKA, group.group_id, topic.topic, partition, None)
                    yield Sample(key, values, at_ms)


OWNERSHIP_HISTORY = Table(
    name="ownership_history",
    grain="One row per tenure of one owner on one partition of a group; holes are unowned time.",
    folded="intervals",
    kinds=("owner",),
    samples=Samples("group_state", _read_assignment, state=("owner",), ends_unnamed=end_unnamed),
    columns=(
        *GROUP_PARTITION,
        Column(
            "owner",
            "STRING",
            "thread id: the member's id and its stream; kafka: the member's id",
            of_payload("thread_id"),
        ),
        Column(
            "owner_member_id",
            "STRING",
            "the member: the thread id up to its last dash; kafka: its id",
            of_payload("member_id"),
        ),
        Column(
            "owner_stream",
            "INT",
            "index of the member's stream; null where a client wrote only its id",
            of_payload("stream"),
        ),
        SESSION,
        *INTERVAL_COLUMNS,
    ),
    key=tuple(column.name for column in GROUP_PARTITION),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "113"},
)
