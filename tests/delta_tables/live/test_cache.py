from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from delta_tables.live.cache import Cache


def test_an_answer_is_made_once_however_many_ask() -> None:
    cache, made, go = Cache(10), list[int](), threading.Event()

    def make() -> int:
        go.wait(5)
        made.append(1)
        return 7

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(cache.get, "key", make) for _ in range(8)]
        go.set()
        assert [one.result() for one in asked] == [7] * 8
    assert made == [1]


def test_of_a_key_only_the_last_state_is_kept() -> None:
    cache, made = Cache(10), list[int]()

    def make() -> int:
        made.append(1)
        return len(made)

    assert [cache.get("key", make, state) for state in (1, 1, 2, 2)] == [1, 1, 2, 2]
    assert cache.get("key", make, 1) == 3


def test_a_failure_is_told_to_all_and_not_kept() -> None:
    cache = Cache(10)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 // 0)
    assert cache.get("key", lambda: 5) == 5


def test_the_oldest_answer_goes_first() -> None:
    cache = Cache(2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, partial(str, key))
    assert cache.get("a", lambda: "anew") == "a"
    assert cache.get("b", lambda: "anew") == "anew"
