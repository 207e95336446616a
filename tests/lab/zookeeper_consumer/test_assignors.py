from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.zookeeper_consumer.assignors import (
    ASSIGNORS,
    hash_string,
    split_ceil,
    split_floor,
    split_range,
)


def sizes(shares: list[range]) -> list[int]:
    return [len(share) for share in shares]


# Counted by hand from the formulas; facts for Kafka are of its own source.
TABLE = [
    (4, 2, [2, 2], [2, 2], [2, 2]),
    (5, 2, [3, 2], [2, 2], [3, 2]),
    (5, 4, [2, 1, 1, 1], [1, 1, 1, 1], [2, 2, 1, 0]),
    (10, 4, [3, 3, 2, 2], [2, 2, 2, 2], [3, 3, 3, 1]),
    (2, 3, [1, 1, 0], [0, 0, 0], [1, 1, 0]),
]


@pytest.mark.parametrize(("partitions", "threads", "kafka", "floor", "ceil"), TABLE)
def test_shares_of_the_three_formulas(
    partitions: int, threads: int, kafka: list[int], floor: list[int], ceil: list[int]
) -> None:
    assert sizes(split_range(partitions, threads)) == kafka
    assert sizes(split_floor(partitions, threads)) == floor
    assert sizes(split_ceil(partitions, threads)) == ceil


counts = st.tuples(st.integers(0, 200), st.integers(1, 50))


@given(counts)
def test_range_gives_every_partition_exactly_once_and_evenly(count: tuple[int, int]) -> None:
    shares = split_range(*count)
    assert list(chain.from_iterable(shares)) == list(range(count[0]))
    assert max(sizes(shares)) - min(sizes(shares)) <= 1


@given(counts)
def test_ceil_loses_nothing(count: tuple[int, int]) -> None:
    assert list(chain.from_iterable(split_ceil(*count))) == list(range(count[0]))


@given(counts)
def test_floor_loses_the_remainder(count: tuple[int, int]) -> None:
    partitions, threads = count
    given_out = list(chain.from_iterable(split_floor(partitions, threads)))
    assert given_out == list(range(partitions - partitions % threads))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("orders-0", 1234322248),
        ("[orders,0]", -1093576615),
        ("polygenelubricants", -(2**31)),
        ("\U0001f600", 1772899),
    ],
)
def test_hash_is_javas(text: str, value: int) -> None:
    assert hash_string(text) == value


def test_range_sorts_threads_as_strings_by_the_callers_order() -> None:
    threads = {"t": sorted(f"c-{i}" for i in range(11))}
    owners = ASSIGNORS["range"](threads, {"t": range(11)})
    assert owners["t", 1] == "c-1"
    assert owners["t", 2] == "c-10"
    assert owners["t", 3] == "c-2"


def test_range_is_per_topic() -> None:
    owners = ASSIGNORS["range"](
        {"a": ["x-0", "y-0"], "b": ["x-0", "y-0"]}, {"a": [0, 1, 2], "b": [0]}
    )
    assert owners == {("a", 0): "x-0", ("a", 1): "x-0", ("a", 2): "y-0", ("b", 0): "x-0"}


def test_a_topic_that_does_not_exist_gives_nobody_anything() -> None:
    assert ASSIGNORS["range"]({"a": ["x-0"]}, {}) == {}
    assert ASSIGNORS["roundrobin"]({"a": ["x-0"]}, {}) == {}
    assert ASSIGNORS["roundrobin"]({}, {}) == {}


@pytest.mark.parametrize("name", ["roundrobin", "roundrobin-0.8.2"])
def test_round_robin_deals_in_the_order_of_hashes(name: str) -> None:
    form = "{}-{}" if name == "roundrobin" else "[{},{}]"
    threads = {"orders": ["x-0", "y-0", "z-0"], "bills": ["x-0", "y-0", "z-0"]}
    partitions = {"orders": range(4), "bills": range(3)}
    order = sorted(
        ((topic, p) for topic, all_of_it in partitions.items() for p in all_of_it),
        key=lambda pair: hash_string(form.format(*pair)),
    )
    owners = ASSIGNORS[name](threads, partitions)
    assert [owners[pair] for pair in order] == ["x-0", "y-0", "z-0"] * 2 + ["x-0"]


def test_round_robin_skips_those_who_do_not_read_the_topic() -> None:
    owners = ASSIGNORS["roundrobin"]({"a": ["x-0", "y-0"], "b": ["y-0"]}, {"a": [0, 1], "b": [0]})
    # a-0 goes to x, a-1 to y; b-0: x loses its turn.
    assert owners == {("a", 0): "x-0", ("a", 1): "y-0", ("b", 0): "y-0"}


names = st.lists(st.sampled_from("abcdef"), min_size=1, unique=True)


@given(st.dictionaries(st.sampled_from(["t", "u", "v"]), names), st.integers(0, 12))
def test_every_assignor_but_floor_gives_each_partition_to_one_who_reads_its_topic(
    readers: dict[str, list[str]], count: int
) -> None:
    threads = {topic: sorted(f"{name}-0" for name in names) for topic, names in readers.items()}
    partitions = {topic: range(count) for topic in threads}
    for name, assign in ASSIGNORS.items():
        owners = assign(threads, partitions)
        assert all(thread in threads[topic] for (topic, _), thread in owners.items())
        if name != "floor":
            assert owners.keys() == {(topic, p) for topic in threads for p in range(count)}
