from __future__ import annotations

import gc
import operator
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import pytest

from delta_tables.live.cache import Cache
from delta_tables.live.weight import weigh


def test_an_answer_is_made_once_however_many_ask() -> None:
    cache, made, go = Cache(1 << 20), list[int](), threading.Event()

    def make() -> int:
        go.wait(60)
        made.append(1)
        return 7

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(cache.get, "key", make) for _ in range(8)]
        go.set()
        assert [one.result() for one in asked] == [7] * 8
    assert made == [1]


def test_of_a_key_only_the_last_state_is_kept() -> None:
    cache, made = Cache(1 << 20), list[int]()

    def make() -> int:
        made.append(1)
        return len(made)

    assert [cache.get("key", make, state) for state in (1, 1, 2, 2)] == [1, 1, 2, 2]
    assert cache.get("key", make, 1) == 3


def test_a_failure_is_told_to_all_and_not_kept() -> None:
    cache = Cache(1 << 20)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 // 0)
    assert cache.get("key", lambda: 5) == 5


def test_the_oldest_answer_goes_first() -> None:
    size = weigh(("a", "a" * 1000))
    cache = Cache(2 * size)
    for key in ("a", "b", "a", "c"):
        cache.get(key, partial(operator.mul, key, 1000))
    assert cache.get("a", lambda: "anew") == "a" * 1000
    assert cache.get("b", lambda: "anew") == "anew"


def test_it_stays_below_its_bound_and_one_that_is_too_large_is_not_kept() -> None:
    cache = Cache(100_000)
    with ThreadPoolExecutor(4) as pool:
        answers = [
            pool.submit(cache.get, number, partial(make_rows, number % 300))
            for number in range(2000)
        ]
        seen = [cache.used_bytes for answer in answers if answer.result() is not None]
    assert 50_000 < max(seen) <= 100_000
    assert cache.used_bytes == sum(one.bytes for one in cache._answers.values())
    rows = cache.get("large", partial(make_rows, 5000))
    assert len(rows) == 5000
    assert cache.used_bytes <= 100_000
    assert cache.get("large", list) == []


def make_rows(count: int) -> list[dict[str, object]]:
    return [{"topic": f"topic-{number}", "lag": number * 1000} for number in range(count)]


@pytest.mark.parametrize("make", [partial(make_rows, 40_000), lambda: Named("x" * 5_000_000)])
def test_a_weight_is_about_what_memory_it_takes(make: Callable[[], object]) -> None:
    gc.collect()
    tracemalloc.start()
    try:
        value = make()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.8 * taken < weigh(value) < 1.5 * taken


class Named(NamedTuple):
    name: str
