"""The old high-level consumer, whole: one session, its watches, its rebalances, its messages.

One thread does everything; kazoo's threads only leave word in the inbox.
"""

from __future__ import annotations

import time
from threading import Event

from kazoo.exceptions import ConnectionLoss, KazooException, NodeExistsError
from kazoo.protocol.states import KazooState

from lab.zookeeper_consumer import paths
from lab.zookeeper_consumer.assignors import TopicPartition
from lab.zookeeper_consumer.group import read_children, read_topics
from lab.zookeeper_consumer.inbox import Inbox, News
from lab.zookeeper_consumer.options import ConsumerOptions
from lab.zookeeper_consumer.rebalance import Rebalance
from lab.zookeeper_consumer.registration import encode_registration, name_member
from lab.zookeeper_consumer.reports import OnReport, Reporter
from lab.zookeeper_consumer.session import build_client, close_client, find_session_id, start_client
from lab.zookeeper_consumer.subscription import match_topics
from lab.zookeeper_consumer.watches import Watches
from lab.zookeeper_consumer.znodes import create_znode
from zklake.errors import ZooKeeperError

# How long an idle member sleeps before it asks Kafka's client again; a watch wakes it at once.
_FETCHING_S, _IDLE_S = 0.02, 0.2


class ZooKeeperConsumer:
    """`run()` it on a thread or in a process of its own; `ask_to_stop()` from anywhere."""

    def __init__(self, options: ConsumerOptions, on_report: OnReport) -> None:
        """Connects to nobody yet. `on_report` gets a report of everything that happens."""
        self.member_id = name_member(options.group, options.member_suffix)
        self._options = options
        self._reporter = Reporter(on_report)
        self._stopping = Event()
        self._inbox = Inbox()
        self._client = build_client(options.zookeeper, options.session_timeout_ms)
        self._watches = Watches(self._inbox.put_change)
        self._rebalance = Rebalance(self.member_id, options, self._reporter, self._stopping)
        self._topics: set[str] = set()
        self._is_registered, self._is_watching = True, True
        # What changed and has not been looked at, and why to rebalance.
        self._changed: set[str] = set()
        self._why = ""
        # A commit that failed for want of a connection. As in the original it is repeated with the
        # positions of its day.
        self._unwritten: dict[TopicPartition, int] = {}
        self._commit_at = time.monotonic() + options.auto_commit_ms / 1000

    def ask_to_stop(self) -> None:
        """Stop cleanly, soon."""
        self._stopping.set()
        self._inbox.wake()

    def run(self) -> None:
        """Consume until asked to stop: then a final commit, and the session is closed."""
        start_client(self._client, self._options.zookeeper)
        self._client.add_listener(self._inbox.put_state)
        try:
            self._join()
            while not self._stopping.is_set():
                self._step()
            self._commit()
        except KazooException as error:
            raise ZooKeeperError(
                f"{self.member_id} cannot join its group in {self._options.zookeeper}: {error!r}"
            ) from error
        finally:
            close_client(self._client)
            self._rebalance.fetching.close()
        self._reporter.say("stopped")

    def _join(self) -> None:
        """The original's order: register, watch members, watch topics, rebalance, watch names."""
        self._register()
        self._watches.watch_children(self._client, paths.ids_dir(self._options.group))
        self._watch_topics()
        self._run_rebalance("started")
        if self._has_pattern():
            self._watches.watch_children(self._client, paths.TOPICS)
            self._changed.add(paths.TOPICS)

    def _step(self) -> None:
        """Take the news, act on all of it once, read messages, commit when due."""
        fetching = self._rebalance.fetching
        self._note(self._inbox.take(_FETCHING_S if fetching.is_fetching else _IDLE_S))
        # What is owned is doubtful while ZooKeeper is away, so nothing is read then.
        if self._client.state == KazooState.CONNECTED:
            self._act()
            if time.monotonic() >= self._commit_at:
                self._commit()
            self._read()

    def _read(self) -> None:
        fetching = self._rebalance.fetching
        for topic, partition, offset in fetching.poll():
            if self._options.messages:
                self._reporter.say("message", topic=topic, partition=partition, offset=offset)
            fetching.pass_by(topic, partition, offset)

    def _note(self, news: News) -> None:
        self._changed |= news.changed
        if news.has_lost_connection:
            self._is_watching = False
        if news.has_lost_session:
            self._is_registered = False
            self._reporter.say("expired")

    def _act(self) -> None:
        """What fails here for want of a connection is done again when it is back."""
        try:
            self._recover()
            self._look_at_changes()
            if self._why and not self._stopping.is_set():
                why, self._why = self._why, ""
                self._run_rebalance(why)
        except KazooException as error:
            self._reporter.say("failed", why=type(error).__name__)
            self._stopping.wait(_IDLE_S)

    def _recover(self) -> None:
        if not self._is_registered:
            # The same id again.
            self._register()
            self._is_registered = True
            self._why = "session expired"
        if self._unwritten:
            # Also those of the life before, over the offsets of whoever has owned them since.
            self._commit()
        if not self._is_watching:
            self._changed.update(self._watches.renew_all(self._client))
            self._is_watching = True
            self._why = self._why or ("missed" if self._changed - {paths.TOPICS} else "")

    def _look_at_changes(self) -> None:
        """Arm again before anything is read: what comes later is one more rebalance."""
        while self._changed:
            path = min(self._changed)
            is_new = self._watches.renew(self._client, path)
            if path == paths.TOPICS:
                is_new = self._watch_topics()
            if is_new:
                self._why = self._why or path
            self._changed.discard(path)

    def _run_rebalance(self, why: str) -> None:
        self._rebalance.run(self._client, why)
        if not self._rebalance.has_brokers:
            # The one case in which an old consumer of 0.8+ looks at brokers.
            self._watches.watch_children(self._client, paths.BROKER_IDS)
            if read_children(self._client, paths.BROKER_IDS):
                self._why = paths.BROKER_IDS

    def _register(self) -> None:
        path = f"{paths.ids_dir(self._options.group)}/{self.member_id}"
        data = encode_registration(self._options.subscription, int(time.time() * 1000))
        session_id = find_session_id(self._client)
        if session_id is None:
            raise ConnectionLoss
        try:
            create_znode(self._client, path, data, ephemeral=True, parent_data=b"")
        except NodeExistsError as error:
            stat = self._client.exists(path)
            # Ours already: the answer to the create was lost with a connection.
            if stat is None or stat.ephemeralOwner != session_id:
                raise ZooKeeperError(
                    f"{path} belongs to another session: wait until it expires, or take another id"
                ) from error
        self._reporter.say("registered", member_id=self.member_id, session_id=hex(session_id))

    def _watch_topics(self) -> bool:
        """Watch the data of every topic read; returns whether the topics are others than before."""
        known = read_topics(self._client) if self._has_pattern() else ()
        before, self._topics = self._topics, set(match_topics(self._options.subscription, known))
        for topic in sorted(self._topics - before):
            self._watches.watch_data(self._client, paths.topic_path(topic))
        return self._topics != before

    def _has_pattern(self) -> bool:
        return self._options.subscription.pattern != "static"

    def _commit(self) -> None:
        self._commit_at = time.monotonic() + self._options.auto_commit_ms / 1000
        # kazoo keeps requests for as long as ZooKeeper is away, and so would keep us from stopping.
        if self._client.state != KazooState.CONNECTED or not self._is_registered:
            return
        for positions in (self._unwritten, dict(self._rebalance.fetching.positions)):
            try:
                self._rebalance.commit(self._client, positions)
                self._unwritten = {}
            except KazooException as error:
                self._unwritten = positions
                self._reporter.say("failed", why=f"commit: {type(error).__name__}")
                return
