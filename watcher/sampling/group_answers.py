"""The process that asks brokers about groups: `python -m watcher.sampling.group_answers`.

Questions come by standard input, answers go to standard output, each a frame. It stands apart
because librdkafka ends its process (SIGSEGV, SIGABRT) where it asks a group's former coordinator.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO, TypeVar

import msgspec
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from watcher.sampling.polled import Key
from zklake.events.offsets_topic.records import clean_metadata
from zklake.events.samples import Commit, GroupState, Member, TopicPartitions
from zklake.pipes import read_exactly

_TIMEOUT_S = 10.0
_LENGTH_BYTES = 4
Message = TypeVar("Message")


class Listed(msgspec.Struct, frozen=True, array_like=True):
    """The groups that brokers listed, and what the others said instead."""

    group_ids: list[str]
    errors: list[str]


class GroupAnswer(msgspec.Struct, frozen=True, array_like=True):
    """What one group answered; None where it, or one of its partitions, could not be read."""

    group_id: str
    state: GroupState | None
    commits: list[tuple[Key, Commit | None]] | None


def write_frame(stream: BinaryIO, message: Any) -> None:
    """One message, behind its length."""
    data = msgspec.msgpack.encode(message)
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    stream.flush()


def read_frame(stream: BinaryIO, type_: type[Message]) -> Message:
    """The next message; EOFError where there is none."""
    length = int.from_bytes(read_exactly(stream, _LENGTH_BYTES), "big")
    return msgspec.msgpack.decode(read_exactly(stream, length), type=type_)


def list_groups(admin: AdminClient) -> Listed:
    """Every group; a broker that does not answer hides those that it coordinates."""
    try:
        listed = admin.list_consumer_groups(request_timeout=_TIMEOUT_S).result()
    except (KafkaException, TimeoutError) as error:
        return Listed([], [str(error)])
    found = [each.group_id for each in listed.valid or []]
    return Listed(found, [str(error) for error in listed.errors or []])


def ask_groups(admin: AdminClient, group_ids: Sequence[str]) -> list[GroupAnswer]:
    """State and offsets of groups; a request per group, since the client takes no more."""
    described = admin.describe_consumer_groups(list(group_ids), request_timeout=_TIMEOUT_S)
    offsets = {
        each: admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(each)], request_timeout=_TIMEOUT_S
        )[each]
        for each in group_ids
    }
    return [
        GroupAnswer(each, _wait(described[each], read_state), _wait(offsets[each], read_commits))
        for each in group_ids
    ]


def _wait(future: Any, read: Any) -> Any:
    try:
        return read(future.result(_TIMEOUT_S + 1))
    except (KafkaException, TimeoutError):
        return None


def read_state(group: ConsumerGroupDescription) -> GroupState:
    """A group as the broker describes it; without generation and subscriptions."""
    members = tuple(
        Member(
            each.member_id,
            each.group_instance_id,
            each.client_id,
            each.host.removeprefix("/"),
            assignment=_by_topic([(tp.topic, tp.partition) for tp in _assigned(each)]),
        )
        for each in sorted(group.members, key=lambda member: str(member.member_id))
    )
    return GroupState(
        group.group_id,
        state="".join(word.capitalize() for word in group.state.name.split("_")),
        protocol=group.partition_assignor or None,
        members=members,
        member_count=len(members),
    )


def _assigned(member: Any) -> Sequence[Any]:
    return member.assignment.topic_partitions if member.assignment else ()


def _by_topic(assigned: Sequence[Key]) -> tuple[TopicPartitions, ...]:
    topics = sorted({topic for topic, _ in assigned})
    return tuple(
        TopicPartitions(topic, tuple(sorted(p for t, p in assigned if t == topic)))
        for topic in topics
    )


def read_commits(offsets: ConsumerGroupTopicPartitions) -> list[tuple[Key, Commit | None]]:
    """A group's offsets, None where one could not be read; where there is none it is negative."""
    return [
        ((each.topic, each.partition), _read_commit(offsets.group_id, each))
        for each in offsets.topic_partitions or ()
        if each.error is not None or each.offset >= 0
    ]


def _read_commit(group_id: str, found: TopicPartition) -> Commit | None:
    if found.error is not None:
        return None
    return Commit(
        group_id,
        found.topic,
        found.partition,
        found.offset,
        leader_epoch=found.leader_epoch,
        metadata=clean_metadata(found.metadata),
    )


def main() -> None:
    """The client's settings come first, then questions: no group means all of them, listed."""
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    try:
        admin = AdminClient(read_frame(questions, dict[str, Any]))
        while True:
            group_ids = read_frame(questions, list[str])
            write_frame(answers, ask_groups(admin, group_ids) if group_ids else list_groups(admin))
    except (EOFError, BrokenPipeError):
        # Whoever asked is gone. Destroying a client may wait for brokers: nobody waits for that.
        os._exit(0)


if __name__ == "__main__":
    main()
