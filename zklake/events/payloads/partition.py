"""/brokers/topics/[topic]/partitions: who leads each partition, and who is in sync with it."""

from __future__ import annotations

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.reading import Document, Int32, Payload, Unreadable


class PartitionState(Payload, frozen=True, kw_only=True):
    """Leader and isr. The znode's version is the partition epoch."""

    # -1: no leader. The isr keeps its last member even then.
    leader: Int32
    leader_epoch: Int32
    # Of the controller that decided the leadership: it may lag, and run backwards in a migration.
    controller_epoch: Int32
    isr: tuple[Int32, ...]
    # 1 = recovering from an unclean election; written only then.
    leader_recovery_state: Int32 = 0


_STATE = Document(PartitionState, {1: ()})


def decode_partition_state(data: bytes | None) -> PartitionState | Unreadable:
    """The state of one partition."""
    return _STATE.read(data)


_SAMPLES = (
    Sample(
        "0.8-3.9",
        b'{"controller_epoch":42,"leader":3,"version":1,"leader_epoch":17,"isr":[3,5]}',
    ),
    Sample(
        "0.8-3.9, no leader",
        b'{"version":1,"leader":-1,"leader_epoch":18,"controller_epoch":42,"isr":[3]}',
    ),
    Sample(
        "3.2-3.9, after an unclean election",
        b'{"version":1,"leader":5,"leader_epoch":19,"controller_epoch":42,"isr":[5],'
        b'"leader_recovery_state":1}',
    ),
)

KINDS = (
    directory("partitions_dir", "/brokers/topics/[topic]/partitions", "0.8-3.9"),
    directory("partition_dir", "/brokers/topics/[topic]/partitions/[partition]", "0.8-3.9"),
    Kind(
        "partition_state",
        "/brokers/topics/[topic]/partitions/[partition]/state",
        "0.8-3.9",
        "leader, isr and epochs of one partition",
        decode_partition_state,
        _SAMPLES,
    ),
)
