"""Records of the log -> events, parsed once; what cannot be read carries a reason instead.

It knows the envelope's form, not what any znode means.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from delta_tables.tables.znode_events import EVENT_COLUMNS
from zklake.events.envelope import VERSION

# What the fold needs of the rows of Spark's Kafka source.
RECORD_SCHEMA = "value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"

_CORRUPT = "corrupt_record"
_SCHEMA = ", ".join(f"`{c.name}` {c.type}" for c in EVENT_COLUMNS) + f", {_CORRUPT} STRING"
_REQUIRED = tuple(column.name for column in EVENT_COLUMNS if column.required)
_LACKS = " ".join(f"WHEN event.{name} IS NULL THEN 'lacks {name}'" for name in _REQUIRED)


def parse_records(records: DataFrame, cluster: str) -> DataFrame:
    """Rows of Spark's Kafka source -> event columns, where they stand in Kafka, and `reason`."""
    record = F.col("value").cast("string")
    event = F.from_json(record, _SCHEMA, {"columnNameOfCorruptRecord": _CORRUPT})
    parsed = records.withColumn("event", event).withColumn("reason", F.expr(_reason_sql(cluster)))
    return parsed.select(
        *(F.col(f"event.{column.name}") for column in EVENT_COLUMNS),
        F.col("topic").alias("kafka_topic"),
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        F.col("timestamp").alias("kafka_at"),
        # The bytes are kept for bad records only: the good ones live on in their columns.
        F.when(F.col("reason").isNotNull(), F.col("value")).alias("record"),
        "reason",
        F.expr(f"coalesce(event.v > {VERSION}, false)").alias("is_newer"),
    ).withColumns({c.name: F.expr(c.sql) for c in EVENT_COLUMNS if c.sql and c.sql != c.name})


def _reason_sql(cluster: str) -> str:
    name = cluster.replace("'", "\\'")
    return f"""CASE
        WHEN event.v > {VERSION}
            THEN concat('event version ', event.v, ' is newer than this zklake reads ({VERSION})')
        WHEN value IS NULL THEN 'empty record'
        WHEN event IS NULL OR event.{_CORRUPT} IS NOT NULL THEN 'not the JSON of an event'
        {_LACKS}
        WHEN event.cluster <> '{name}' THEN concat('of another cluster: ', event.cluster)
    END"""
