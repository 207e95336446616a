"""consumer_membership: who was a member of a group, and what it subscribed to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from delta_tables.intervals import (
    CLUSTER,
    EXIT_COLUMNS,
    INTERVAL_COLUMNS,
    PARTITION_BY,
    SESSION,
)
from delta_tables.observation import Observation, constant, of_path, of_payload, read_timestamp
from delta_tables.samples import KAFKA, Sample, Samples, end_unnamed, find_time, list_members
from delta_tables.table import ZNODE_ENDS, Column, Table
from zklake.events.envelope import Event

COORDINATOR = Column(
    "coordinator",
    "STRING",
    "who keeps the group: zookeeper (/consumers) or kafka (its own group protocol)",
    constant("zookeeper"),
    required=True,
)
GROUP_ID = Column("group_id", "STRING", "group.id", of_path(2), required=True)

# group_host-startMillis-8hex; group and host may hold both _ and -.
_NAME = re.compile(r"(.+)-([0-9]{13})-([0-9a-f]{1,8})")


def _read_host(seen: Observation) -> str | None:
    found = _NAME.fullmatch(seen.parts[4].removeprefix(f"{seen.parts[2]}_"))
    return found[1] if found else None


def _read_members(event: Event) -> Iterator[Sample]:
    group = event.group_state
    if group is None:
        return
    for member in list_members(group):
        topics = member.subscription
        values = {
            "pattern": None if topics is None else "static",
            "subscription": None if topics is None else dict.fromkeys(sorted(topics), 1),
            "host": member.client_host,
            "client_id": member.client_id,
            "group_instance_id": member.group_instance_id,
            "generation": group.generation,
        }
        key = (KAFKA, group.group_id, member.member_id)
        yield Sample(key, values, find_time(event, group.at_ms))


CONSUMER_MEMBERSHIP = Table(
    name="consumer_membership",
    grain="One row per state of one member of a group (/consumers/[group]/ids/[member], or a "
    "member of a Kafka-stored group).",
    folded="intervals",
    kinds=("consumer",),
    samples=Samples(
        "group_state",
        _read_members,
        state=("subscription", "host", "client_id", "group_instance_id"),
        ends_unnamed=end_unnamed,
    ),
    columns=(
        CLUSTER,
        COORDINATOR,
        GROUP_ID,
        Column(
            "member_id",
            "STRING",
            "consumer id; the same one comes back after its session expired",
            of_path(4),
            required=True,
        ),
        Column(
            "pattern",
            "STRING",
            "static: topics by name; white_list, black_list: one Java regex",
            of_payload("pattern"),
        ),
        Column(
            "subscription",
            "MAP<STRING, INT>",
            "streams by topic, or per matching topic by regex; kafka: 1 for each topic",
            of_payload("subscription"),
        ),
        Column(
            "host",
            "STRING",
            "host of the member, from its id; null where consumer.id was set by hand; kafka: where "
            "it connected from",
            _read_host,
        ),
        Column(
            "registered_at",
            "TIMESTAMP",
            "timestamp inside the registration: the member's own clock",
            read_timestamp,
        ),
        Column(
            "registration_version",
            "INT",
            "version of the registration's JSON; 0 for the forms of 0.7",
            of_payload("version"),
        ),
        Column("client_id", "STRING", "kafka only: client.id of the member", constant(None)),
        Column("group_instance_id", "STRING", "kafka only: set for static members", constant(None)),
        Column(
            "generation",
            "INT",
            "kafka only: generation of the group in which this state began; null: not known",
            constant(None),
        ),
        SESSION,
        *EXIT_COLUMNS,
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "coordinator", "group_id", "member_id"),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "127"},
)
