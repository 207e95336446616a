"""Who gets which partition: Kafka's formulas, and beside them those of the seeds, by name.

Pure: threads and partitions in, owners out. Knows nothing of ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle

TopicPartition = tuple[str, int]
# By topic: thread ids, at least one, sorted as strings (c-10 before c-2); partitions as numbers.
Threads = Mapping[str, Sequence[str]]
Partitions = Mapping[str, Sequence[int]]
Owners = dict[TopicPartition, str]
Assignor = Callable[[Threads, Partitions], Owners]
Split = Callable[[int, int], list[range]]


def split_range(partitions: int, threads: int) -> list[range]:
    """Kafka's: the first `partitions mod threads` threads take one more."""
    each, more = divmod(partitions, threads)
    starts = [each * i + min(i, more) for i in range(threads + 1)]
    return [range(starts[i], starts[i + 1]) for i in range(threads)]


def split_floor(partitions: int, threads: int) -> list[range]:
    """The 0.7 document's `i*N to (i+1)*N - 1`, N rounded down: it loses the remainder."""
    each = partitions // threads
    return [range(i * each, (i + 1) * each) for i in range(threads)]


def split_ceil(partitions: int, threads: int) -> list[range]:
    """The same with N rounded up: nothing is lost, but the last threads may get nothing."""
    each = -(-partitions // threads)
    return [
        range(min(i * each, partitions), min((i + 1) * each, partitions)) for i in range(threads)
    ]


def _assign_by(split: Split) -> Assignor:
    def assign(threads: Threads, partitions: Partitions) -> Owners:
        owners: Owners = {}
        for topic, ids in threads.items():
            all_of_it = partitions.get(topic, ())
            for thread, share in zip(ids, split(len(all_of_it), len(ids)), strict=True):
                owners.update({(topic, all_of_it[index]): thread for index in share})
        return owners

    return assign


def hash_string(text: str) -> int:
    """Java's String.hashCode: signed, 32 bits, over UTF-16 units."""
    units = text.encode("utf-16-be")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFF_FFFF
    return value - (1 << 32) if value >> 31 else value


def _assign_in_circle(key: str) -> Assignor:
    """`key` is how that release wrote a partition: its hash decides who comes when."""

    def assign(threads: Threads, partitions: Partitions) -> Owners:
        everybody = sorted({thread for ids in threads.values() for thread in ids})
        pairs = [(topic, p) for topic in threads for p in partitions.get(topic, ())]
        pairs.sort(key=lambda pair: hash_string(key.format(*pair)))
        circle = cycle(everybody)
        # Threads that do not subscribe to the topic lose their turn; they are not dealt next.
        return {pair: next(t for t in circle if t in threads[pair[0]]) for pair in pairs}

    return assign


ASSIGNORS: Mapping[str, Assignor] = {
    "range": _assign_by(split_range),
    "roundrobin": _assign_in_circle("{}-{}"),
    "roundrobin-0.8.2": _assign_in_circle("[{},{}]"),
    "floor": _assign_by(split_floor),
    "ceil": _assign_by(split_ceil),
}
