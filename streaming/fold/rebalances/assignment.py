"""Kafka's range assignment: who must own what in a group of old consumers. Pure.

Every old consumer computes it for itself from the members and partitions that it reads in ZooKeeper
(`PartitionAssignor.RangeAssignor`), so a group whose owners are these has nothing left to do.
`conformance` (delta_tables/views) says the same in SQL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

# Nobody runs more; whoever writes more wants us to count them.
MOST_STREAMS = 1000


def name_threads(streams: Mapping[str, int]) -> list[str]:
    """The threads that read a topic, by the number of streams of each member, as Kafka sorts them.

    As strings: c-10 comes before c-2.
    """
    return sorted(
        f"{member_id}-{number}" for member_id, count in streams.items() for number in range(count)
    )


def assign_range(partitions: Iterable[int], threads: Collection[str]) -> Iterator[tuple[int, str]]:
    """Which thread takes each partition of one topic; `threads` are sorted."""
    numbers = sorted(partitions)
    each, more = divmod(len(numbers), len(threads)) if threads else (0, 0)
    begin = 0
    for place, thread in enumerate(threads):
        end = begin + each + (place < more)
        for number in numbers[begin:end]:
            yield number, thread
        if (begin := end) >= len(numbers):
            return
