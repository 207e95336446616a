"""Values as records of a log that lies in memory."""

from __future__ import annotations

from collections.abc import Sequence

from streaming.log.records import Record


def make_records(values: Sequence[bytes | None], offset: int = 0) -> list[Record]:
    """As Spark's Kafka source would hand them on."""
    return [Record(offset + number, value, 0) for number, value in enumerate(values)]
