"""A log as a watcher tells it that stands still now and then: the same events, some seen late."""

from __future__ import annotations

from random import Random

import msgspec

from zklake.events.envelope import Event


def delay(events: list[Event], dice: Random, most_ms: int) -> list[Event]:
    """What comes while it stands still is seen when it goes on; no longer than that, in order."""
    late, until_ms = [], 0
    for event in events:
        if event.observed_at_ms > until_ms and dice.random() < 0.2:
            until_ms = event.observed_at_ms + dice.randrange(most_ms)
        seen_ms = max(event.observed_at_ms, until_ms)
        late.append(msgspec.structs.replace(event, observed_at_ms=seen_ms))
    return late
