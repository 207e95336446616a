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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from streaming.log.kafka_client import translate_options
from streaming.log.records import Record

# A record's range is split between cores only when it is worth a second task.
_RECORDS_PER_TASK = 50_000


# Kafka's own patience is a minute and more, in which a query looks alive and does nothing.
_PATIENCE = {
    "kafka.request.timeout.ms": "10000",
    "kafka.default.api.timeout.ms": "15000",
    "fetchOffset.numRetries": "1",
    "kafkaConsumer.pollTimeoutMs": "30000",
}


def read_log(
    spark: SparkSession,
    bootstrap: str,
    topic: str,
    offset: int | None,
    *,
    max_records: int,
    client: Mapping[str, str],
) -> DataFrame:
    """The stream of the log's only partition, from `offset` on (None: all there is)."""
    start = "earliest" if offset is None else json.dumps({topic: {"0": offset}})
    options = {
        **_PATIENCE,
        **{f"kafka.{name}": value for name, value in translate_options(client).items()},
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


def read_records(batch: DataFrame) -> list[Record]:
    """The records of a micro-batch, in order of their offsets."""
    rows = batch.select("offset", "value", "timestamp").toArrow().sort_by("offset")
    columns = (rows["offset"], rows["value"], rows["timestamp"].cast("int64"))
    return [Record(*row) for row in zip(*(each.to_pylist() for each in columns), strict=True)]


@contextmanager
def fresh_checkpoint(parent: str | None = None) -> Iterator[str]:
    """An empty checkpoint directory that goes with the run."""
    with tempfile.TemporaryDirectory(
        prefix="zklake-checkpoint-", dir=parent, ignore_cleanup_errors=True
    ) as directory:
        yield directory
