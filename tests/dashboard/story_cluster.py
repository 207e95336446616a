"""Brokers, topics and changes of the story: broker 2 was away for a while."""

from __future__ import annotations

from tests.dashboard.story import HOSTILE_TOPIC, Story, write


def tell_brokers(story: Story) -> None:
    for broker in (1, 2, 3):
        columns = {
            "broker_id": broker,
            "endpoints": [f"PLAINTEXT://kafka-{broker}.shop.example:9092"],
            "rack": f"r{broker}",
            "is_known": True,
        }
        session = 0x1000_0000 + broker
        if broker == 2:
            story.add(
                "broker_membership",
                3000,
                31,
                **columns,
                czxid=20,
                session=session,
                ended_by="session_ended",
            )
            story.add("broker_membership", 29.5, None, **columns, czxid=21, session=session + 16)
        else:
            story.add("broker_membership", 3000, None, **columns, czxid=broker, session=session)
    story.add(
        "controller",
        3000,
        31,
        controller_id=2,
        controller_epoch=7,
        is_known=True,
        ended_by="session_ended",
    )
    story.add("controller", 30.9, None, controller_id=3, controller_epoch=8, is_known=True)


def tell_topics(story: Story) -> None:
    for topic, partitions in (("orders", 6), ("payments", 3), (HOSTILE_TOPIC, 1)):
        replicas = {p: [1 + (p + n) % 3 for n in range(3)] for p in range(partitions)}
        story.add(
            "topics",
            3000,
            None,
            topic=topic,
            partition_count=partitions,
            replicas=replicas,
            assignment_version=1,
            incarnation=77,
            is_known=True,
        )
        for p, brokers in replicas.items():
            _tell_partition(story, topic, p, brokers)
            story.add(
                "log_ends",
                1,
                None,
                topic=topic,
                partition=p,
                broker_id=brokers[0],
                log_start_offset=0,
                log_end_offset=190_000 + 1000 * p,
                sampled_at=write(story.at(1)),
                confirmed_at=write(story.at(0.1)),
            )


def _tell_partition(story: Story, topic: str, partition: int, brokers: list[int]) -> None:
    columns = {
        "topic": topic,
        "partition": partition,
        "czxid": 100 + partition,
        "is_known": True,
        "controller_epoch": 7,
    }
    led_by_2 = brokers[0] == 2
    story.add(
        "partition_state",
        3000,
        31,
        **columns,
        leader=brokers[0],
        isr=brokers,
        leader_epoch=4,
        ended_by="changed",
    )
    if led_by_2:
        story.add(
            "partition_state",
            31,
            30.8,
            **columns,
            leader=-1,
            isr=[2],
            leader_epoch=5,
            ended_by="changed",
        )
    left = [broker for broker in brokers if broker != 2]
    story.add(
        "partition_state",
        30.8 if led_by_2 else 31,
        28 - partition / 5,
        **columns,
        leader=left[0],
        isr=left,
        leader_epoch=6,
        ended_by="changed",
    )
    story.add(
        "partition_state",
        28 - partition / 5,
        None,
        **columns,
        leader=left[0],
        isr=brokers,
        leader_epoch=7,
    )


def tell_changes(story: Story) -> None:
    config = {"entity_type": "topics", "entity_name": "orders", "is_known": True}
    story.add(
        "config_history",
        3000,
        45,
        **config,
        config_key="retention.ms",
        value="604800000",
        ended_by="changed",
    )
    story.add("config_history", 45, None, **config, config_key="retention.ms", value="86400000")
    story.add(
        "config_history",
        40,
        None,
        entity_type="users",
        entity_name="alice",
        config_key="SCRAM-SHA-256",
        is_redacted=True,
        is_known=True,
    )
    story.add(
        "admin_operations",
        35,
        33,
        operation="reassignment",
        topic="orders",
        partition=2,
        replicas=[1, 3],
        ended_by="finished",
        is_known=True,
    )
    story.add("log_gaps", 3001, 3000, gap_id="g1", reason="first_start", ended_by="in_sync")
    story.add(
        "log_gaps", 31.2, 31, gap_id="g2", reason="session_expired", lives=1, ended_by="in_sync"
    )
    story.rows["quarantine"] = [
        {
            "kafka_topic": "zklake.shop",
            "kafka_partition": 0,
            "kafka_offset": 17,
            "kafka_at": write(story.at(12)),
            "reason": "not_json",
            "record": b'{"v": <script>',
        }
    ]
    first, last = story.at(3000), story.at(0.2)
    story.rows["znode_events"] = [
        {
            "seq": seq,
            "op": "heartbeat",
            "observed_at_ms": int(at.timestamp() * 1000),
            "observed_at": write(at),
            "observed_on": at.date().isoformat(),
        }
        for seq, at in ((1000, first), (9000, last))
    ]
