"""The znodes of the aged cluster: by kind, what they are called and what they say."""

from __future__ import annotations

import json

from bench.aged_lake.groups import add_members, add_offsets, add_owners
from bench.aged_lake.thing import SESSION, Places, Thing, time_sql
from bench.aged_lake.world import World
from delta_tables.tables.broker_membership import BROKER_MEMBERSHIP
from delta_tables.tables.partition_state import PARTITION_STATE
from delta_tables.tables.topics import TOPICS


def list_things(world: World) -> list[Thing]:
    """Every kind, in the order in which a frame meets them."""
    places = Places()
    _add_brokers(places, world)
    _add_topics(places, world)
    _add_partitions(places, world)
    add_members(places, world)
    add_owners(places, world)
    add_offsets(places, world)
    assert places.taken == world.znodes
    return places.things


def _add_brokers(places: Places, world: World) -> None:
    host = "concat('kafka-', k, '.example')"
    endpoint = f"concat('PLAINTEXT://', {host}, ':9092')"
    data = (
        f"""concat('{{"version":5,"host":"', {host}, '","port":9092,"jmx_port":-1,"timestamp":"""
        f""""{world.start_ms}","rack":"r', k % 3, '","endpoints":["', {endpoint}, '"],"features":"""
        """{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"}}')"""
    )
    places.add(
        "broker",
        BROKER_MEMBERSHIP,
        world.size.brokers,
        path="concat('/brokers/ids/', k)",
        data=data,
        session=f"{SESSION} + k",
        columns={
            "broker_id": "k",
            "endpoints": f"make_array({endpoint})",
            "host": host,
            "port": "9092",
            "rack": "concat('r', k % 3)",
            "jmx_port": "-1",
            "registration_version": "5",
            "listener_security_protocol_map": "MAP {'PLAINTEXT': 'PLAINTEXT'}",
            "registered_at": time_sql(str(world.start_ms)),
            "broker_epoch": "czxid",
        },
    )


def _add_topics(places: Places, world: World) -> None:
    size = world.size
    replicas = {p: [(p + n) % size.brokers for n in range(3)] for p in range(size.partitions)}
    data = {"version": 1, "partitions": {str(p): brokers for p, brokers in replicas.items()}}
    arrays = ", ".join(f"{p}: make_array({', '.join(map(str, b))})" for p, b in replicas.items())
    places.add(
        "topic",
        TOPICS,
        size.topics,
        path="concat('/brokers/topics/topic-', k)",
        data=f"'{json.dumps(data, separators=(',', ':'))}'",
        columns={
            "topic": "concat('topic-', k)",
            "partition_count": str(size.partitions),
            "replicas": f"MAP {{{arrays}}}",
            "assignment_version": "1",
            "incarnation": "czxid",
        },
    )


def _add_partitions(places: Places, world: World) -> None:
    size = world.size
    topic, partition = f"concat('topic-', k / {size.partitions})", f"k % {size.partitions}"
    leader = f"({partition} + r % 3) % {size.brokers}"
    follower = f"({leader} + 1) % {size.brokers}"
    isr = f"CASE WHEN r % 2 = 0 THEN concat({leader}, ',', {follower}) ELSE concat({leader}) END"
    brokers = (
        f"CASE WHEN r % 2 = 0 THEN make_array({leader}, {follower}) ELSE make_array({leader}) END"
    )
    places.add(
        "partition_state",
        PARTITION_STATE,
        size.topics * size.partitions,
        lots=(0, 350),
        path=f"concat('/brokers/topics/', {topic}, '/partitions/', {partition}, '/state')",
        data=(
            f"""concat('{{"controller_epoch":1,"leader":', {leader}, ',"version":1,"""
            f""""leader_epoch":', r, ',"isr":[', {isr}, ']}}')"""
        ),
        columns={
            "topic": topic,
            "partition": partition,
            "leader": leader,
            "isr": brokers,
            "leader_epoch": "r",
            "controller_epoch": "1",
            "leader_recovery_state": "0",
        },
    )
