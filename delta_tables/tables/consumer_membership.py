"""consumer_membership: who was a member of a group, and what it subscribed to."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.payload import Payload, is_bad_millis
from delta_tables.samples import GROUP_AT_MS, GROUP_ENDS, GROUP_MEMBERS, KAFKA, Samples
from delta_tables.table import ZNODE_ENDS, Column, Table, millis

COORDINATOR = Column(
    "coordinator",
    "STRING",
    "who keeps the group: zookeeper (/consumers) or kafka (its own group protocol)",
    "'zookeeper'",
    required=True,
)
GROUP_ID = Column("group_id", "STRING", "group.id", "get(split(path, '/'), 2)", required=True)

_REGISTRATION = Payload(
    fields="pattern STRING, subscription MAP<STRING, INT>, timestamp STRING",
    # 0.7 has topic -> streams without a wrapper, and a topic may well be called "version".
    names=("subscription",),
    strings=("pattern", "timestamp"),
    is_malformed_sql=(
        "payload.pattern IS NULL OR payload.subscription IS NULL "
        "OR exists(map_values(payload.subscription), streams -> streams IS NULL) "
        f"OR {is_bad_millis('payload.timestamp')}"
    ),
)

_MEMBER_ID = "get(split(path, '/'), 4)"
# group_host-startMillis-8hex; group and host may hold both _ and -.
_NAME = "^(.+)-([0-9]{13})-([0-9a-f]{1,8})$"
_SUFFIX = (
    f"IF(startswith({_MEMBER_ID}, concat({GROUP_ID.sql}, '_')), "
    f"substr({_MEMBER_ID}, length({GROUP_ID.sql}) + 2), {_MEMBER_ID})"
)

_TOPICS = "array_sort(array_distinct(filter(item.subscription, topic -> topic IS NOT NULL)))"
_MEMBERS = Samples(
    op="group_state",
    items=GROUP_MEMBERS,
    columns={
        "coordinator": f"'{KAFKA}'",
        "group_id": "group_state.group_id",
        "member_id": "item.member_id",
        "pattern": "IF(item.subscription IS NULL, NULL, 'static')",
        "subscription": f"map_from_entries(transform({_TOPICS}, topic -> struct(topic, 1)))",
        "host": "item.client_host",
        "client_id": "item.client_id",
        "group_instance_id": "item.group_instance_id",
        "generation": "group_state.generation",
    },
    state=("subscription", "host", "client_id", "group_instance_id"),
    at_ms=GROUP_AT_MS,
    ends_unnamed=GROUP_ENDS,
)

CONSUMER_MEMBERSHIP = Table(
    name="consumer_membership",
    grain="One row per state of one member of a group (/consumers/[group]/ids/[member], or a "
    "member of a Kafka-stored group).",
    folded="intervals",
    kinds=("consumer",),
    payload=_REGISTRATION,
    samples=_MEMBERS,
    columns=(
        CLUSTER,
        COORDINATOR,
        GROUP_ID,
        Column(
            "member_id",
            "STRING",
            "consumer id; the same one comes back after its session expired",
            _MEMBER_ID,
            required=True,
        ),
        Column(
            "pattern",
            "STRING",
            "static: topics by name; white_list, black_list: one Java regex",
            "IF(payload.pattern IN ('white_list', 'black_list') OR payload IS NULL, "
            "payload.pattern, 'static')",
        ),
        Column(
            "subscription",
            "MAP<STRING, INT>",
            "streams by topic, or per matching topic by regex; kafka: 1 for each topic",
            "payload.subscription",
        ),
        Column(
            "host",
            "STRING",
            "host of the member, from its id; null where consumer.id was set by hand; kafka: where "
            "it connected from",
            f"IF({_SUFFIX} RLIKE '{_NAME}', regexp_extract({_SUFFIX}, '{_NAME}', 1), NULL)",
        ),
        Column(
            "registered_at",
            "TIMESTAMP",
            "timestamp inside the registration: the member's own clock",
            millis("try_cast(payload.timestamp AS BIGINT)"),
        ),
        Column(
            "registration_version",
            "INT",
            "version of the registration's JSON; 0 for the forms of 0.7",
            "payload.version",
        ),
        Column("client_id", "STRING", "kafka only: client.id of the member", "NULL"),
        Column("group_instance_id", "STRING", "kafka only: set for static members", "NULL"),
        Column(
            "generation",
            "INT",
            "kafka only: generation of the group in which this state began; null: not told",
            "NULL",
        ),
        SESSION,
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "coordinator", "group_id", "member_id"),
    ends=ZNODE_ENDS,
    ephemeral_paths=("/consumers/{group_id}/ids/{member_id}",),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "127"},
)
