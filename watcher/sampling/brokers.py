"""The watched brokers, asked by an AdminClient: who leads what, and where logs start and end.

Each call blocks until its own deadline; nothing here decides when to ask or what is news.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ListOffsetsResultInfo, OffsetSpec

from watcher.log.clients import LIBRDKAFKA, admin_config
from watcher.sampling.ends import OFFSETS_TOPIC, TOO_OLD, BrokerAnswer, Layout, Partition, judge
from zklake.events.samples import LogEnd
from zklake.name_patterns import Names

# Partitions in one request: librdkafka's own work for it grows with their square, so that 8,000 at
# once cost twice the CPU of four times 2,000.
AT_ONCE = 2000
# The client's own clock ends a request; this much later its answer is no longer awaited.
_GRACE_S = 2.0

_Futures = Mapping[TopicPartition, "Future[ListOffsetsResultInfo]"]


class BrokersAway(Exception):
    """No broker answered; the message says why."""


class Brokers:
    """One cluster's brokers; safe to be asked from several threads."""

    def __init__(self, bootstrap: str, client: Mapping[str, Any], topics: Names) -> None:
        self.bootstrap = bootstrap
        self._topics = topics
        self._trouble = ""
        # It must outlive its futures: its own thread answers them.
        self._admin = AdminClient(
            admin_config(bootstrap, client) | {"error_cb": self._note}, logger=LIBRDKAFKA
        )

    def read_layout(self, timeout_s: float) -> Layout:
        """Leaders of all sampled partitions, from any broker."""
        # All topics at once: asking for one by name may create it.
        try:
            cluster = self._admin.list_topics(timeout=timeout_s)
        except KafkaException as error:
            raise BrokersAway(self._trouble or error.args[0].str()) from error
        self._trouble = ""
        if not cluster.topics:
            # So says a broker that has just started, for a moment: nothing is gone by that.
            raise BrokersAway("the broker that answered knows no topic (yet)")
        leaders = {
            (name, partition.id): partition.leader
            for name, topic in cluster.topics.items()
            if self._topics.holds(name)
            for partition in topic.partitions.values()
        }
        kept = cluster.topics.get(OFFSETS_TOPIC)
        if kept is None:
            return Layout(leaders, {}, self._find_denial(timeout_s))
        return Layout(leaders, {p.id: p.leader for p in kept.partitions.values()})

    def _find_denial(self, timeout_s: float) -> str | None:
        """Metadata leaves out what we may not see; asked for by name, the broker says so."""
        # describe_topics creates nothing, unlike list_topics(topic).
        asked = TopicCollection([OFFSETS_TOPIC])
        futures = self._admin.describe_topics(asked, request_timeout=timeout_s)
        try:
            futures[OFFSETS_TOPIC].result(timeout_s + _GRACE_S)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                return str(error.args[0].str())
            raise BrokersAway(error.args[0].str()) from error
        raise BrokersAway(f"{OFFSETS_TOPIC} has just been made")

    def ask(
        self, broker_id: int, partitions: Sequence[Partition], timeout_s: float
    ) -> BrokerAnswer:
        """Start and end of partitions that one broker leads, in two requests per AT_ONCE."""
        asked = [TopicPartition(*key) for key in partitions]
        starts = self._list(asked, OffsetSpec.earliest(), timeout_s)  # type: ignore[no-untyped-call]
        ends = self._list(asked, OffsetSpec.latest(), timeout_s)  # type: ignore[no-untyped-call]
        deadline = time.monotonic() + timeout_s + _GRACE_S
        found: list[LogEnd] = []
        reason = ""
        for key, each in zip(partitions, asked, strict=True):
            try:
                start = _read(starts[each], deadline)
                end = _read(ends[each], deadline)
                found.append(LogEnd(*key, broker_id, start, end))
            except (KafkaException, TimeoutError) as error:
                word, reason = _explain(error)
                found.append(LogEnd(*key, broker_id, error=word))
        return judge(broker_id, found, reason)

    def _list(
        self, asked: Sequence[TopicPartition], spec: OffsetSpec, timeout_s: float
    ) -> _Futures:
        futures: dict[TopicPartition, Future[ListOffsetsResultInfo]] = {}
        for first in range(0, len(asked), AT_ONCE):
            part = dict.fromkeys(asked[first : first + AT_ONCE], spec)
            futures |= self._admin.list_offsets(part, request_timeout=timeout_s)
        return futures

    def _note(self, error: KafkaError) -> None:
        """Keep the client's complaint; «all brokers down» says less than the one before."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN or not self._trouble:
            self._trouble = error.str()


def _read(answer: Future[ListOffsetsResultInfo], deadline: float) -> int:
    """An offset. A request that timed out answers without an error, and with a negative number."""
    offset = answer.result(max(0.0, deadline - time.monotonic())).offset
    if offset < 0:
        raise TimeoutError
    return offset


def _explain(error: KafkaException | TimeoutError) -> tuple[str, str]:
    """Kafka's word for it, and the client's sentence."""
    if isinstance(error, TimeoutError):
        return "_TIMED_OUT", "no answer"
    name = error.args[0].name()
    # The client's own word, where it does not even ask.
    return TOO_OLD if name == "_UNSUPPORTED_FEATURE" else name, error.args[0].str()
