"""Answers by key, made once however many ask at a time, and bounded in bytes. Knows no tables.

Of each key only the answer to the last state stays: the ones before would not be asked for again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

from delta_tables.live.weight import weigh

T = TypeVar("T")


class _Answer:
    """What was made of one state, or is being made."""

    def __init__(self, state: Hashable) -> None:
        self.state = state
        self.made: Future[Any] = Future()
        self.bytes = 0


class Cache:
    """Keeps the answers that were asked for last, as many as fit."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._bytes = 0

    @property
    def used_bytes(self) -> int:
        """What is kept, about."""
        with self._lock:  # while room is made it is more than that
            return self._bytes

    def get(self, key: Hashable, make: Callable[[], T], state: Hashable = None) -> T:
        """The answer of that key; who asks first makes it, others wait. A failure is not kept."""
        with self._lock:
            known = self._answers.get(key)
            is_mine = known is None or known.state != state
            if known is None or known.state != state:
                self._drop(key)
                known = self._answers[key] = _Answer(state)
            self._answers.move_to_end(key)
        if is_mine:
            self._fulfil(key, known, make)
        value: T = known.made.result()
        return value

    def _fulfil(self, key: Hashable, answer: _Answer, make: Callable[[], T]) -> None:
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                if self._answers.get(key) is answer:
                    self._drop(key)
            answer.made.set_exception(error)
            return
        self._keep(key, answer, weigh((key, value)))
        answer.made.set_result(value)

    def _keep(self, key: Hashable, answer: _Answer, size: int) -> None:
        with self._lock:
            if self._answers.get(key) is not answer:
                return
            answer.bytes = size
            self._bytes += size
            while self._bytes > self._most_bytes:
                # Not those that are being made: somebody waits for them.
                self._drop(next(key for key, one in self._answers.items() if one.bytes))

    def _drop(self, key: Hashable) -> None:
        dropped = self._answers.pop(key, None)
        if dropped is not None:
            self._bytes -= dropped.bytes
