"""Kafka-stored groups: from `__consumer_offsets`, or by asking where that may not be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import structlog

from watcher.sampling.group_poll import GroupPoll
from watcher.sampling.offsets_topic import OffsetsTopic
from watcher.sampling.thinning import Taken
from zklake.events.samples import GroupReading
from zklake.name_patterns import Names

log = structlog.get_logger()


class Groups:
    """The one source of commits and group states that works."""

    def __init__(
        self,
        bootstrap: str,
        client: Mapping[str, Any],
        names: Names,
        interval_s: float,
        last_seq: Callable[[], int],
    ) -> None:
        self._args = (bootstrap, client, names, last_seq)
        self._interval_s = interval_s
        self._topic = OffsetsTopic(*self._args)
        self._poll: GroupPoll | None = None

    def take(self, partitions: Collection[int], denied: str | None) -> tuple[Taken, GroupReading]:
        """What the interval came to; `partitions` of `__consumer_offsets`, or why none is seen."""
        denied = denied or self._topic.denied
        if denied is None:
            self._topic.expect(partitions)
        if denied is not None and self._poll is None:
            log.warning("__consumer_offsets may not be read: groups are polled", reason=denied)
            self._topic.close()
            self._poll = GroupPoll(*self._args, interval_s=self._interval_s, because=denied)
        return self._topic.take() if self._poll is None else self._poll.take()

    def emit_all(self) -> None:
        """From here on everything that stands is said anew."""
        if self._poll is None:
            self._topic.emit_all()
        else:
            self._poll.emit_all()

    def close(self) -> None:
        """End the threads."""
        self._topic.close()
        if self._poll is not None:
            self._poll.close()
