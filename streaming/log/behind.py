"""How far a query is behind its log."""

from __future__ import annotations

import re

from pyspark.sql.streaming.query import StreamingQuery

from streaming.lake.progress import LakeProgress
from streaming.log.identity import LogPartition
from zklake.errors import LogError


def count_behind(query: StreamingQuery, partition: LogPartition, start: LakeProgress) -> int | None:
    """Records of the log that are not folded yet; None: Kafka does not say."""
    try:
        low, high = partition.find_bounds(1.0)
    except LogError:
        return None  # the query itself will fail
    last = query.lastProgress
    # pyspark hands on a dict as text; the offset is its last number.
    numbers = re.findall(r"\d+", str(last["sources"][0]["endOffset"])) if last else []
    folded = int(numbers[-1]) if numbers else start.offset or low
    return max(0, high - folded)
