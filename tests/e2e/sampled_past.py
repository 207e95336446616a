"""offset_lag at any moment against what somebody else saw before and after that moment."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from tests.e2e.live_truth import Place
from tests.e2e.sampler import Look
from zklake.events.envelope import Event

Row = dict[str, Any]
# So late, at most, a watcher on a busy machine tells of a commit.
_LATE_MS = 20_000


class Seen(NamedTuple):
    """What a table said of a moment, and between which looks it must lie."""

    place: Place
    moment_ms: int
    row: Row
    # Ended before the brokers were asked; ended so long ago that the log has heard of it.
    before: Look
    long_before: Look | None
    after: Look


def list_rounds(log: Sequence[Event]) -> list[int]:
    """When the watcher's sampling rounds ended (ms)."""
    return [e.observed_at_ms for e in log if e.log_ends is not None and e.log_ends.round]


def find_steady(looks: Sequence[Look]) -> set[Place]:
    """Partitions of groups whose offsets only grew."""
    steady = {place for look in looks for place in look.committed}
    last: dict[Any, int] = {}
    for look in looks:
        for place, offset in look.committed.items():
            log = place[1:]
            if offset < last.get(place, 0) or look.ends.get(log, 1 << 62) < last.get(log, 0):
                steady.discard(place)
            last[place] = offset
        last |= look.ends
    return steady


def pick_moments(
    rows: Sequence[Row], looks: Sequence[Look], rounds: Sequence[int], count: int, dice: Random
) -> Iterator[Seen]:
    """Random moments of steady partitions.

    The last round before a moment asked brokers after the round before it had ended: a look that
    ended still earlier saw no more than it. What was committed may reach the log late.
    """
    steady = find_steady(looks)
    by_place: dict[Place, list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["valid_from_at"])):
        place = (row["group_id"], row["topic"], row["partition"])
        if place in steady and row["coordinator"] == "zookeeper":
            by_place.setdefault(place, []).append(row)
    ended, began = [look.ended_ms for look in looks], [look.began_ms for look in looks]
    places = sorted(by_place)
    while count:
        place = dice.choice(places)
        moment = dice.randint(ended[0], began[-1])
        held = [
            row
            for row in by_place[place]
            if row["valid_from_at"] <= moment and (row["is_open"] or moment < row["valid_to_at"])
        ]
        count -= 1
        last = bisect_right(rounds, moment)
        if not held or held[0]["lag"] is None or last < 3:
            continue
        earlier = bisect_right(ended, rounds[last - 3]) - 1
        old = bisect_right(ended, rounds[last - 1] - _LATE_MS) - 1
        later = bisect_left(began, moment)
        if earlier >= 0 and later < len(looks):
            long_before = looks[old] if old >= 0 else None
            yield Seen(place, moment, held[0], looks[earlier], long_before, looks[later])


def check_seen(seen: Seen) -> Iterator[str]:
    """What is wrong with it: it knows what came later, or does not know what had been."""
    row, place = seen.row, seen.place
    if row["committed_at"] is not None and row["committed_at"] > seen.moment_ms:
        yield f"committed at {row['committed_at']}, after the moment"
    for name, value, low, high in (
        (
            "committed_offset",
            row["committed_offset"],
            None if seen.long_before is None else seen.long_before.committed.get(place),
            seen.after.committed.get(place),
        ),
        (
            "log_end_offset",
            row["log_end_offset"],
            seen.before.ends.get(place[1:]),
            seen.after.ends.get(place[1:]),
        ),
    ):
        if low is not None and value < low:
            yield f"{name} {value} is older than the last round: {low} was there before it"
        if high is not None and value > high:
            yield f"{name} {value} is of later: {high} was there after the moment"
