"""Groups asked for by an AdminClient, where `__consumer_offsets` may not be read.

A thread of its own polls; a request per group, since the client takes no more, so many groups take
long: docs/operations.md says what that means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event, Lock, Thread
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from watcher.log.clients import LIBRDKAFKA, admin_config
from watcher.sampling.ends import OFFSETS_TOPIC
from watcher.sampling.polled import Key, Polled, PolledGroups
from watcher.sampling.thinning import Taken
from zklake.events.offsets_topic.records import clean_metadata
from zklake.events.samples import Commit, GroupReading, GroupState, Member, TopicPartitions
from zklake.name_patterns import Names

# Groups in one describe request, and requests for offsets under way at a time.
_GROUPS_AT_A_TIME = 50
_TIMEOUT_S = 10.0
_NOTHING = Taken([], [])


class GroupPoll:
    """Asks for all groups again and again; what it comes to is taken by the sampler."""

    def __init__(
        self,
        bootstrap: str,
        client: Mapping[str, Any],
        groups: Names,
        last_seq: Callable[[], int],
        *,
        interval_s: float,
        because: str,
    ) -> None:
        self._admin = AdminClient(admin_config(bootstrap, client), logger=LIBRDKAFKA)
        self._groups, self._interval_s = groups, interval_s
        self._last_seq, self._since_seq = last_seq, last_seq()
        self._because = because
        self._trouble: str | None = "not asked yet"
        self._said = PolledGroups()
        self._lock = Lock()
        self._ready: list[Taken] = []
        self._has_asked = self._is_complete = False
        self._stop = Event()
        self._thread = Thread(target=self._run, name="group-poll", daemon=True)
        self._thread.start()

    def take(self) -> tuple[Taken, GroupReading]:
        """What the last poll came to, and how far that can be trusted."""
        with self._lock:
            ready, self._ready = self._ready, []
            self._is_complete |= self._has_asked
            reasons = (f"{OFFSETS_TOPIC} cannot be read: {self._because}", self._trouble)
            reading = GroupReading(
                source="admin_api",
                complete_since_seq=self._since_seq if self._is_complete else None,
                reason="; ".join(reason for reason in reasons if reason),
            )
        return (ready[0] if ready else _NOTHING), reading

    def say_all(self) -> None:
        """The next complete poll is said whole."""
        with self._lock:
            self._said = PolledGroups()
            self._ready, self._has_asked, self._is_complete = [], False, False
            self._since_seq = self._last_seq()

    def close(self) -> None:
        """End the thread; a request under way is not awaited."""
        self._stop.set()
        self._thread.join(0.5)

    def _run(self) -> None:
        while not self._stop.is_set():
            # Nothing is compared before what was found last has been taken: memory stays bounded.
            if not self._ready:
                try:
                    self._poll()
                except Exception as error:
                    # Whatever it was: groups are unknown for a while, and everything else goes on.
                    self._trouble = str(error)
            self._stop.wait(self._interval_s)

    def _poll(self) -> None:
        said = self._said
        listed = self._admin.list_consumer_groups(request_timeout=_TIMEOUT_S).result()
        # A broker that did not answer hides the groups that it coordinates.
        errors = listed.errors or []
        ids = [each.group_id for each in listed.valid or [] if self._groups.holds(each.group_id)]
        answers: dict[str, Polled] = {}
        for part in _cut(sorted(ids)):
            if self._stop.is_set():
                return
            answers |= self._ask(part)
        silent = [each for each, answer in answers.items() if None in answer]
        taken = said.compare(answers, is_whole=not errors)
        with self._lock:
            if said is not self._said:
                return  # all is to be said anew, and this is only what was news
            self._ready = [taken]
            self._trouble = str(errors[0]) if errors else None
            if silent:
                self._trouble = f"{len(silent)} groups did not answer"
            self._has_asked = not errors and not silent

    def _ask(self, group_ids: Sequence[str]) -> dict[str, Polled]:
        described = self._admin.describe_consumer_groups(
            list(group_ids), request_timeout=_TIMEOUT_S
        )
        offsets = {
            each: self._admin.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(each)], request_timeout=_TIMEOUT_S
            )[each]
            for each in group_ids
        }
        return {
            each: Polled(_read(described[each], read_state), _read(offsets[each], read_commits))
            for each in group_ids
        }


def _read(future: Any, read: Any) -> Any:
    try:
        return read(future.result(_TIMEOUT_S + 1))
    except (KafkaException, TimeoutError):
        return None


def read_state(group: ConsumerGroupDescription) -> GroupState:
    """A group as the broker describes it; neither generation nor subscriptions are told."""
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


def read_commits(offsets: ConsumerGroupTopicPartitions) -> dict[Key, Commit | None]:
    """A group's offsets, None where one could not be told; where there is none it is negative."""
    return {
        (each.topic, each.partition): _read_commit(offsets.group_id, each)
        for each in offsets.topic_partitions or ()
        if each.error is not None or each.offset >= 0
    }


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


def _cut(group_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(group_ids), _GROUPS_AT_A_TIME):
        yield group_ids[start : start + _GROUPS_AT_A_TIME]
