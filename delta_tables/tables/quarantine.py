"""quarantine: records that could not be folded, with the reason."""

from __future__ import annotations

from delta_tables.table import Column, Table

QUARANTINE = Table(
    name="quarantine",
    grain="One row per record of the log that could not be folded.",
    columns=(
        Column("kafka_topic", "STRING", "where the record stands in Kafka", required=True),
        Column("kafka_partition", "INT", "and its partition", required=True),
        Column("kafka_offset", "BIGINT", "and its offset", required=True),
        Column("kafka_at", "TIMESTAMP", "when the broker or the producer stamped it"),
        Column("reason", "STRING", "why it could not be folded"),
        Column("record", "BINARY", "the record's bytes, untouched"),
        Column("ingested_at", "TIMESTAMP", "when the stream wrote the row"),
    ),
    key=("kafka_topic", "kafka_partition", "kafka_offset"),
    properties={"delta.appendOnly": "true", "delta.checkpointInterval": "103"},
)
