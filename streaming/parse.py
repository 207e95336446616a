"""Records of the log -> events, parsed once; what cannot be read carries a reason instead.

It knows the envelope's form, not what any znode means.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from delta_tables.tables.znode_events import EVENT_COLUMNS
from streaming.continuity import UNBROKEN
from streaming.relation import query
from zklake.events.envelope import VERSION

# What the fold needs of the rows of Spark's Kafka source.
RECORD_SCHEMA = "value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"

_CORRUPT = "corrupt_record"
_SCHEMA = ", ".join(f"`{c.name}` {c.type}" for c in EVENT_COLUMNS) + f", {_CORRUPT} STRING"
_REQUIRED = tuple(column.name for column in EVENT_COLUMNS if column.required)
_LACKS = " ".join(f"WHEN event.{name} IS NULL THEN 'lacks {name}'" for name in _REQUIRED)


def parse_records(records: DataFrame, cluster: str) -> DataFrame:
    """Rows of Spark's Kafka source -> event columns, where they stand in Kafka, and `reason`."""
    return query(_parse_sql("records", cluster), records=records)


def _parse_sql(records: str, cluster: str) -> str:
    event = (
        f"from_json(CAST(value AS STRING), '{_SCHEMA}', "
        f"map('columnNameOfCorruptRecord', '{_CORRUPT}'))"
    )
    columns = ", ".join(f"{c.sql or c.name} AS {c.name}" for c in EVENT_COLUMNS)
    unbroken = ", ".join(f"{sql} AS {name}" for name, sql in UNBROKEN.items())
    return f"""
SELECT {columns},
  topic AS kafka_topic,
  partition AS kafka_partition,
  offset AS kafka_offset,
  timestamp AS kafka_at,
  -- The bytes are kept for bad records only: the good ones live on in their columns.
  IF(reason IS NOT NULL, value, NULL) AS record,
  reason,
  coalesce(v > {VERSION}, false) AS is_newer,
  {unbroken}
FROM (
  SELECT event.*, * EXCEPT (event), {_reason_sql(cluster)} AS reason
  FROM (SELECT *, {event} AS event FROM {records}))"""


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
