"""What one transaction carries, and how large a record may be. Knows nothing of Kafka clients."""

from __future__ import annotations

from typing import NamedTuple

from zklake.errors import LogError
from zklake.events.envelope import Meta, TreeRow

# A znode holds up to 1 MiB; base64 makes it 1.4 MiB. What is larger must be sent as `oversize`.
MAX_RECORD_BYTES = 2 * 1024 * 1024

# Headers, key and batch framing around the largest record.
FRAMING_BYTES = 64 * 1024


class Batch(NamedTuple):
    """Events and the model after them: both become visible together, or neither does."""

    # Encoded, in seq order.
    events: list[bytes]
    # By path; None = the znode is gone.
    rows: dict[str, TreeRow | None]
    # None while a base frame is under way: the tree then trails the log, and a restart in between
    # finds the model lost instead of taking half a frame for the whole tree.
    meta: Meta | None


def check_sizes(batch: Batch) -> None:
    """Raise LogError for an event that Kafka would refuse for ever."""
    largest = max(map(len, batch.events), default=0)
    if largest > MAX_RECORD_BYTES:
        raise LogError(f"an event of {largest} bytes is above {MAX_RECORD_BYTES}: send `oversize`")
