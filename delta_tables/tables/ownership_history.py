"""ownership_history: who consumed each partition of a group, and when nobody did."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.payload import Payload
from delta_tables.samples import GROUP_AT_MS, GROUP_ENDS, GROUP_MEMBERS, KAFKA, Samples
from delta_tables.table import ZNODE_ENDS, Column, Table
from delta_tables.tables.consumer_membership import COORDINATOR, GROUP_ID

# 0.7 names the znode [broker]-[partition].
_NAME = "get(split(path, '/'), 5)"
_OLD_NAME = f"{_NAME} RLIKE '^[0-9]+-[0-9]+$'"
_THREAD = "^([A-Za-z0-9._:-]+)-([0-9]{1,9})$"
# Bare text in every release; the member's id ends at the LAST dash.
_OWNER = Payload(
    fields="thread_id STRING, member_id STRING, stream INT",
    is_plain_text_sql=f"data RLIKE '{_THREAD}'",
    text_json_sql=(
        "to_json(named_struct('version', 1, 'thread_id', data, "
        f"'member_id', regexp_extract(data, '{_THREAD}', 1), "
        f"'stream', try_cast(regexp_extract(data, '{_THREAD}', 2) AS INT)))"
    ),
)

_TOPIC = Column("topic", "STRING", "name of the topic", "get(split(path, '/'), 4)", required=True)
_PARTITION = Column(
    "partition",
    "INT",
    "number of the partition",
    f"try_cast(IF({_OLD_NAME}, element_at(split({_NAME}, '-'), 2), {_NAME}) AS INT)",
    required=True,
)
_BROKER_ID = Column(
    "broker_id",
    "INT",
    "0.7 only: the broker whose partition it is; null since 0.8",
    f"IF({_OLD_NAME}, try_cast(element_at(split({_NAME}, '-'), 1) AS INT), NULL)",
)

# What a row of a group is about, and its key.
GROUP_PARTITION = (CLUSTER, COORDINATOR, GROUP_ID, _TOPIC, _PARTITION, _BROKER_ID)

# Who is assigned what, one struct each.
_ASSIGNED = f"""flatten(transform({GROUP_MEMBERS}, member ->
    coalesce(flatten(transform(member.assignment, assigned ->
        transform(coalesce(assigned.partitions, array()), number -> named_struct(
            'member_id', member.member_id, 'topic', assigned.topic, 'partition', number)))),
        array())))"""
_ASSIGNMENT = Samples(
    op="group_state",
    items=_ASSIGNED,
    columns={
        "coordinator": f"'{KAFKA}'",
        "group_id": "group_state.group_id",
        "topic": "item.topic",
        "partition": "IF(item.partition >= 0, item.partition, NULL)",
        "owner": "item.member_id",
        "owner_member_id": "item.member_id",
    },
    state=("owner",),
    at_ms=GROUP_AT_MS,
    ends_unnamed=GROUP_ENDS,
)

OWNERSHIP_HISTORY = Table(
    name="ownership_history",
    grain="One row per tenure of one owner on one partition of a group; holes are unowned time.",
    folded="intervals",
    kinds=("owner",),
    payload=_OWNER,
    samples=_ASSIGNMENT,
    columns=(
        *GROUP_PARTITION,
        Column(
            "owner",
            "STRING",
            "thread id: the member's id and its stream; kafka: the member's id",
            "payload.thread_id",
        ),
        Column(
            "owner_member_id",
            "STRING",
            "the member: the thread id up to its last dash; kafka: its id",
            "payload.member_id",
        ),
        Column(
            "owner_stream",
            "INT",
            "index of the member's stream; null where a client wrote only its id",
            "payload.stream",
        ),
        SESSION,
        *INTERVAL_COLUMNS,
    ),
    key=tuple(column.name for column in GROUP_PARTITION),
    ends=ZNODE_ENDS,
    ephemeral_paths=(
        "/consumers/{group_id}/owners/{topic}/{broker_id}-{partition}",
        "/consumers/{group_id}/owners/{topic}/{partition}",
    ),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "113"},
)
