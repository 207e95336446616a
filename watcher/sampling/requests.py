"""One round's requests, each on a thread of its own: a slow broker delays nobody else.

A broker that has not answered yet is not asked again. Decides nothing about what is news.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from queue import Empty, Queue
from threading import Thread
from typing import NamedTuple

from watcher.sampling.brokers import Brokers
from watcher.sampling.ends import BrokerAnswer, Layout
from zklake.events.samples import BrokerFailure


class Asked(NamedTuple):
    """When a round's requests were sent, by the log and by the monotonic clock."""

    after_seq: int
    at: float


class Answered(NamedTuple):
    """An answer, and the round that it belongs to."""

    asked: Asked
    answer: BrokerAnswer


class Requests:
    """Requests under way, at most one per broker."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._answers: Queue[Answered] = Queue()
        self._under_way: dict[int, Asked] = {}

    @property
    def owing(self) -> set[int]:
        """Brokers that owe an answer."""
        return set(self._under_way)

    def send(self, brokers: Brokers, layout: Layout, asked: Asked) -> set[int]:
        """Ask every leader that owes nothing; returns those that were asked."""
        leading = layout.by_leader()
        free = leading.keys() - self._under_way.keys()
        for broker_id in free:
            self._under_way[broker_id] = asked
            args = (brokers, asked, broker_id, leading[broker_id])
            Thread(target=self._ask, args=args, name="sample", daemon=True).start()
        return free

    def collect(self, seconds: float, awaited: Collection[int] | None = None) -> list[Answered]:
        """What comes within so many seconds, or until those awaited have answered."""
        deadline = time.monotonic() + seconds
        found: list[Answered] = []
        while awaited is None or not self._under_way.keys().isdisjoint(awaited):
            try:
                # Whatever lies there is taken at once, also when the time is over.
                answered = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                break
            self._under_way.pop(answered.answer.broker_id, None)
            found.append(answered)
        return found

    def _ask(
        self, brokers: Brokers, asked: Asked, broker_id: int, partitions: list[tuple[str, int]]
    ) -> None:
        try:
            answer = brokers.ask(broker_id, partitions, self._deadline_s)
        except Exception as error:
            # Whatever the client raises is a failure of this broker's round, never of the watcher.
            failure = BrokerFailure(broker_id, f"{type(error).__name__}: {error}")
            answer = BrokerAnswer(broker_id, [], failure)
        self._answers.put(Answered(asked, answer))
