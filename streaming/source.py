"""The log as Spark's Kafka source. The start comes from the lake, never from a checkpoint.

Spark wants a checkpoint and prefers it over any start offset. Ours would then decide what the lake
holds, although only the lake knows: a lake restored from a backup under a newer checkpoint would
miss records for ever. So each start of the stream gets a checkpoint directory of its own, empty,
and the offset behind the largest seq of znode_events. What is read again costs at most one batch
and a minute of heartbeats; the guards of the tables pass over it. (znode_events is written last, so
whatever it holds is in every other table.) Only the driver writes there: local disk will do.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

# A record's range is split between cores only when it is worth a second task.
_RECORDS_PER_TASK = 50_000


def read_log(
    spark: SparkSession, bootstrap: str, topic: str, offset: int | None, max_records: int
) -> DataFrame:
    """The stream of the log's only partition, from `offset` on (None: all there is)."""
    start = "earliest" if offset is None else json.dumps({topic: {"0": offset}})
    options = {
        "kafka.bootstrap.servers": bootstrap,
        "assign": json.dumps({topic: [0]}),
        "startingOffsets": start,
        "kafka.isolation.level": "read_committed",
        # The default, 500 ms, is spent on every batch whose last record is a transaction marker.
        "kafka.fetch.max.wait.ms": "10",
        # A range that Kafka no longer has must stop the fold, not pass in silence.
        "failOnDataLoss": "true",
        "maxOffsetsPerTrigger": str(max_records),
        "maxRecordsPerPartition": str(_RECORDS_PER_TASK),
    }
    return spark.readStream.format("kafka").options(**options).load()


@contextmanager
def fresh_checkpoint(parent: str | None = None) -> Iterator[str]:
    """An empty checkpoint directory that goes with the run."""
    with tempfile.TemporaryDirectory(
        prefix="zklake-checkpoint-", dir=parent, ignore_cleanup_errors=True
    ) as directory:
        yield directory
