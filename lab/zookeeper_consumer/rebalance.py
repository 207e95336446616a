"""One rebalance: stop, commit, release everything, read, compute, claim; again when refused.

The steps and their order are those of ZookeeperConsumerConnector.scala (0.8-1.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Any

from kazoo.exceptions import KazooException, SessionExpiredError

from lab.zookeeper_consumer import paths
from lab.zookeeper_consumer.assignors import ASSIGNORS, TopicPartition
from lab.zookeeper_consumer.fetching import Fetching
from lab.zookeeper_consumer.group import (
    read_bootstrap,
    read_children,
    read_member,
    read_members,
    read_partitions,
    read_topics,
)
from lab.zookeeper_consumer.offsets import Offsets
from lab.zookeeper_consumer.options import ConsumerOptions
from lab.zookeeper_consumer.ownership import Ownership
from lab.zookeeper_consumer.reports import Reporter
from lab.zookeeper_consumer.subscription import list_threads


class Rebalance:
    """One member's part in every rebalance of its group."""

    def __init__(
        self, member_id: str, options: ConsumerOptions, reporter: Reporter, stopping: Event
    ) -> None:
        """Owns nothing yet."""
        self.fetching = Fetching(member_id, options.reset, reporter, options.rate)
        self.has_brokers = True
        self._member_id = member_id
        self._options = options
        self._reporter = reporter
        self._stopping = stopping
        self._offsets = Offsets(options.group)
        self._ownership = Ownership(options.group)

    def run(self, client: Any, why: str) -> bool:
        """Try until it works or max_retries is reached; then own nothing, and stay a member."""
        self._reporter.say("rebalancing", why=why)
        for attempt in range(1, self._options.max_retries + 1):
            if self._stopping.is_set():
                return False
            try:
                if self._try_once(client, attempt):
                    return True
            except SessionExpiredError:
                # A new session brings a registration and a rebalance of its own.
                return False
            except KazooException as error:
                self._reporter.say("failed", **{"try": attempt, "why": type(error).__name__})
            # Watch events do not cut the back-off short: they add up to one more rebalance.
            self._stopping.wait(self._options.backoff_ms / 1000)
        self._reporter.say("gave_up", tries=self._options.max_retries)
        return False

    def commit(self, client: Any, positions: Mapping[TopicPartition, int]) -> None:
        """Write the offsets that have changed, unless this member never commits."""
        if not self._options.commits:
            return
        if written := self._offsets.commit(client, positions):
            offsets = {f"{topic}-{partition}": at for (topic, partition), at in written.items()}
            self._reporter.say("committed", offsets=offsets)

    def _try_once(self, client: Any, attempt: int) -> bool:
        registered = read_member(client, self._options.group, self._member_id) is not None
        self.has_brokers = bool(read_children(client, paths.BROKER_IDS))
        if not self.has_brokers:
            self._reporter.say("no_brokers")
            return True
        if not registered:
            self._reporter.say("failed", **{"try": attempt, "why": "no registration of our own"})
            return False
        self.commit(client, self.fetching.stop())
        self._ownership.release(client)
        wanted = self._compute(client)
        committed = self._offsets.read(client, wanted)
        self.fetching.prepare(self._options.bootstrap or read_bootstrap(client))
        if refused := self._ownership.claim(client, wanted):
            holders = {f"{topic}-{p}": holder for (topic, p), holder in sorted(refused.items())}
            self._reporter.say("conflict", **{"try": attempt, "holders": holders})
            return False
        self.fetching.start(wanted, committed)
        self._reporter.say("rebalanced", tries=attempt)
        self._reporter.say("owns", partitions=_group_by_topic(wanted))
        return True

    def _compute(self, client: Any) -> dict[TopicPartition, str]:
        """This member's share of what everybody computes alike."""
        threads = list_threads(read_members(client, self._options.group), read_topics(client))
        partitions = {topic: read_partitions(client, topic) for topic in threads}
        owners = ASSIGNORS[self._options.strategy](threads, partitions)
        # The thread's index stands behind the LAST dash.
        return {
            one: thread
            for one, thread in owners.items()
            if thread.rpartition("-")[0] == self._member_id
        }


def _group_by_topic(wanted: Mapping[TopicPartition, str]) -> dict[str, list[int]]:
    owned: dict[str, list[int]] = {}
    for topic, partition in sorted(wanted):
        owned.setdefault(topic, []).append(partition)
    return owned
