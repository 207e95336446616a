"""Answers by key, made once however many ask at a time. Knows nothing of tables.

Of each key only the answer to the last state stays: the ones before would not be asked for again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Cache:
    """Keeps the answers that were asked for last."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, tuple[Hashable, Future[Any]]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], state: Hashable = None) -> T:
        """The answer of that key; who asks first makes it, others wait. A failure is not kept."""
        with self._lock:
            known = self._answers.get(key)
            is_mine = known is None or known[0] != state
            if known is None or known[0] != state:
                known = self._answers[key] = (state, Future())
            self._answers.move_to_end(key)
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
        answer = known[1]
        if is_mine:
            self._fulfil(key, answer, make)
        value: T = answer.result()
        return value

    def _fulfil(self, key: Hashable, answer: Future[T], make: Callable[[], T]) -> None:
        try:
            answer.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._answers.get(key, (None, None))[1] is answer:
                    del self._answers[key]
            answer.set_exception(error)
