"""The sampler: every interval what groups committed, then where the logs end, into the log.

Runs on a thread of its own beside the core, only in the watcher that holds the log. Commits are
said first, so that the round behind them was asked after them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from threading import Event, Thread
from typing import Any, NamedTuple

import structlog
from confluent_kafka import KafkaException

from watcher.metrics import WatcherMetrics
from watcher.sampling.brokers import Brokers, BrokersAway
from watcher.sampling.ends import Layout
from watcher.sampling.groups import Groups
from watcher.sampling.handover import Handover
from watcher.sampling.packing import pack_commits, pack_state
from watcher.sampling.requests import Answered, Asked, Requests
from watcher.sampling.round_writer import RoundWriter
from zklake.name_patterns import Names

log = structlog.get_logger()

# A broker that needs longer has a round of its own; the others' ends after this.
PROMPT_S = 1.0
_REQUEST_S = 5.0
_LATE_POLL_S = 0.25


class Plan(NamedTuple):
    """What is sampled, and how often."""

    interval_s: float
    # Everything is said anew so often: whoever begins at a base frame finds a base behind it.
    base_interval_s: float
    # None: found in /brokers/ids.
    bootstrap: str | None
    client: dict[str, Any]
    topics: Names
    groups: Names


class Sampler:
    """Samples one cluster until closed. Nothing that brokers do can end or delay the watcher."""

    def __init__(
        self,
        plan: Plan,
        find_bootstrap: Callable[[], str | None],
        core: Handover,
        metrics: WatcherMetrics,
    ) -> None:
        self._plan, self._core, self._metrics = plan, core, metrics
        self._find_bootstrap = find_bootstrap
        self._rounds = RoundWriter(core, metrics)
        self._requests = Requests(min(_REQUEST_S, plan.interval_s))
        self._brokers: Brokers | None = None
        self._groups: Groups | None = None
        self._layout: Layout | None = None
        self._next_base = time.monotonic() + plan.base_interval_s
        self._stop = Event()
        self._thread = Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        """Begin with a round as soon as brokers are known."""
        self._thread.start()

    def close(self) -> None:
        """Nothing is said from here on; threads end by themselves within a request's deadline."""
        self._stop.set()
        self._core.close()
        self._thread.join(2 * _LATE_POLL_S)

    def _run(self) -> None:
        try:
            self._go_on()
        finally:
            if self._groups is not None:
                self._groups.close()

    def _wait_for_brokers(self) -> None:
        """The first scan finds them; after an interval it is time to say that there are none."""
        deadline = time.monotonic() + self._plan.interval_s
        while self._find_bootstrap() is None and time.monotonic() < deadline:
            if self._stop.wait(_LATE_POLL_S):
                return

    def _go_on(self) -> None:
        self._wait_for_brokers()
        next_round = time.monotonic()
        while not self._stop.is_set():
            try:
                if time.monotonic() >= next_round:
                    # A late round is not made up for.
                    next_round = max(next_round + self._plan.interval_s, time.monotonic())
                    self._sample()
                pause_s = min(_LATE_POLL_S, max(0.0, next_round - time.monotonic()))
                self._emit_late(self._requests.collect(pause_s))
            except Exception:
                # The watcher goes on without samples for a while, rather than without its tree.
                log.exception("a sampling round failed")
                self._metrics.sample_failures.inc()
                self._stop.wait(self._plan.interval_s)

    def _sample(self) -> None:
        if not self._core.has_room():
            self._metrics.sample_rounds_skipped.inc()
            return
        began = time.monotonic()
        self._take_turn()
        self._metrics.sample_turn_seconds.set(time.monotonic() - began)

    def _take_turn(self) -> None:
        self._mind_the_base()
        reason = self._meet()
        if self._brokers is None or self._layout is None:
            self._rounds.emit_unasked(self._ask_the_time(), reason)
            return
        self._emit_groups(self._brokers.bootstrap, self._layout)
        asked = self._ask_the_time()
        sent = self._requests.send(self._brokers, self._layout, asked)
        # Nobody waits for a broker that was silent before.
        answered = self._requests.collect(PROMPT_S, sent - self._rounds.silence.brokers)
        mine = [each for each in answered if each.asked == asked]
        self._rounds.emit_round(asked, self._layout, mine, self._requests.owing, reason)
        self._emit_late(each for each in answered if each.asked != asked)

    def _ask_the_time(self) -> Asked:
        return Asked(self._core.last_seq(), time.monotonic())

    def _mind_the_base(self) -> None:
        if time.monotonic() >= self._next_base:
            self._next_base = time.monotonic() + self._plan.base_interval_s
            self._rounds.start_over()
            if self._groups is not None:
                self._groups.emit_all()

    def _meet(self) -> str | None:
        """Find the brokers and learn who leads what; why not, otherwise."""
        bootstrap = self._find_bootstrap()
        if bootstrap is None:
            return "no broker is registered in /brokers/ids with a listener for our protocol"
        is_met = self._layout is not None
        try:
            if self._brokers is None:
                self._brokers = Brokers(bootstrap, self._plan.client, self._plan.topics)
            self._layout = self._brokers.read_layout(PROMPT_S if is_met else _REQUEST_S)
        except KafkaException as error:
            return str(error.args[0])
        except BrokersAway as error:
            self._follow(bootstrap)
            # Those of the last layout are asked all the same: each answers for itself.
            return str(error)
        self._rounds.silence.forget_others(self._layout.by_leader())
        return None

    def _follow(self, bootstrap: str) -> None:
        """Begin anew where the brokers are now; while one answers, clients follow the others."""
        if self._brokers is None or self._brokers.bootstrap == bootstrap:
            return
        log.info("brokers are asked at other addresses", bootstrap=bootstrap)
        self._brokers = Brokers(bootstrap, self._plan.client, self._plan.topics)
        if self._groups is not None:
            self._groups.close()
            self._groups = None

    def _emit_groups(self, bootstrap: str, layout: Layout) -> None:
        if self._groups is None:
            plan = self._plan
            self._groups = Groups(
                bootstrap, plan.client, plan.groups, plan.interval_s, self._core.last_seq
            )
        taken, reading = self._groups.take(layout.group_leaders, layout.groups_denied)
        self._core.post([*map(pack_state, taken.states), *pack_commits(taken.commits)])
        self._rounds.reading = reading
        self._metrics.group_commits_seen.inc(taken.seen)
        self._metrics.group_commits_published.inc(len(taken.commits))
        self._metrics.group_states_published.inc(len(taken.states))
        self._metrics.group_partitions_behind.set(reading.partitions_behind)
        self._metrics.group_records_unreadable.set(reading.unreadable)

    def _emit_late(self, answered: Iterable[Answered]) -> None:
        """Brokers that were slow: a round of their own for each moment of asking."""
        rounds: dict[Asked, list[Answered]] = {}
        for each in answered:
            rounds.setdefault(each.asked, []).append(each)
        for asked, answers in rounds.items():
            assert self._layout is not None
            self._rounds.emit_round(asked, self._layout, answers, self._requests.owing)
