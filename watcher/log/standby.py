"""Waiting beside a living watcher: its heartbeats keep us waiting, its silence lets us in.

Runs before fencing. Silence is measured by our own monotonic clock from the last sign of life:
the clocks of two machines are never compared to declare somebody dead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from watcher.log.partition import PartitionReader
from zklake.errors import Fenced, LogError
from zklake.events.envelope import decode
from zklake.events.topics import name_topics

TAKEOVER_AFTER_MS = 10_000
# Even a log that looks old is watched for two heartbeats: our clock may run ahead of the writer's.
LOOK_MS = 2_000
_POLL_S = 0.25
_ANSWER_S = 5.0


class LogSilence(NamedTuple):
    """How long the log must be silent before it is ours, and since when it is. Pure."""

    end: int | None
    since_ms: int
    needed_ms: int
    takeover_after_ms: int

    def is_over(self, now_ms: int) -> bool:
        """True when the other watcher has been silent long enough."""
        return now_ms - self.since_ms >= self.needed_ms


def begin_silence(
    end: int, newest_age_ms: int | None, now_ms: int, takeover_after_ms: int
) -> LogSilence:
    """The first look. `newest_age_ms` is by the wall clock: it only shortens the wait."""
    if newest_age_ms is None and end == 0:
        needed_ms = 0
    elif newest_age_ms is not None and newest_age_ms < takeover_after_ms:
        needed_ms = takeover_after_ms
    else:
        needed_ms = min(LOOK_MS, takeover_after_ms)
    return LogSilence(end, now_ms, needed_ms, takeover_after_ms)


def observe(silence: LogSilence, end: int | None, now_ms: int) -> LogSilence:
    """A further look; `end` None = Kafka did not answer, and silence then proves nothing."""
    if end is not None and end == silence.end:
        return silence
    return silence._replace(end=end, since_ms=now_ms, needed_ms=silence.takeover_after_ms)


def wait_for_silence(
    bootstrap: str,
    client_config: Mapping[str, Any],
    cluster: str,
    *,
    takeover_after_ms: int = TAKEOVER_AFTER_MS,
    take_over: bool = False,
    once: bool = False,
    on_standby: Callable[[], None] = lambda: None,
    stopping: Callable[[], bool] = lambda: False,
) -> bool:
    """Return True once the log may be taken; False when told to stop. Calls on_standby once.

    once: who shall come and go does not wait for a living watcher to end; raises Fenced.
    """
    if take_over:
        return True
    topics = name_topics(cluster)
    with (
        PartitionReader(bootstrap, client_config, topics.events, patience_s=_ANSWER_S) as events,
        PartitionReader(bootstrap, client_config, topics.tree, patience_s=_ANSWER_S) as tree,
    ):
        silence = _look_first(events, tree, takeover_after_ms)
        if silence.needed_ms >= takeover_after_ms:
            on_standby()
        while not silence.is_over(_monotonic_ms()):
            if stopping():
                return False
            time.sleep(_POLL_S)
            end = _find_end(events, tree, must_answer=once)
            if once and end != silence.end:
                raise Fenced(
                    f"another watcher is writing the log of {cluster}, and --once does not wait: "
                    "stop it, or give --take-over"
                )
            seen = observe(silence, end, _monotonic_ms())
            if seen.needed_ms > silence.needed_ms:
                on_standby()
            silence = seen
    return True


def _look_first(
    events: PartitionReader, tree: PartitionReader, takeover_after_ms: int
) -> LogSilence:
    end = events.find_bounds()[1] + tree.find_bounds()[1]
    newest = events.read_last(lambda message: True)
    # CreateTime is the writer's clock, LogAppendTime the broker's; either may differ from ours.
    age_ms = None if newest is None else int(time.time() * 1000) - newest.timestamp()[1]
    if newest is not None and _is_farewell(newest.value() or b""):
        age_ms = takeover_after_ms
    return begin_silence(end, age_ms, _monotonic_ms(), takeover_after_ms)


def _is_farewell(record: bytes) -> bool:
    """A watcher that is stopped cleanly declares the gap it leaves: nobody need wait for it."""
    try:
        event = decode(record)
    except msgspec.DecodeError:
        return False
    return event.gap is not None and event.gap.reason == "restart"


def _find_end(events: PartitionReader, tree: PartitionReader, *, must_answer: bool) -> int | None:
    """How much stands in both topics: a watcher that has just taken over claims in the tree."""
    try:
        return events.find_bounds()[1] + tree.find_bounds()[1]
    except LogError:
        if must_answer:
            raise
        return None


def _monotonic_ms() -> int:
    return int(time.monotonic() * 1000)
