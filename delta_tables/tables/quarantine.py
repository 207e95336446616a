"""quarantine: records that could not be folded, with the reason."""

from __future__ import annotations

from delta_tables.table import Column, Table

QUARANTINE = Table(
    name="quarantine",
    grain="One row per record of the log that could not be folded.",
    columns=(
        Column(
            "kafka_topic",
            "STRING",
            "where the record stands in Kafka",
            "kafka_topic",
            required=True,
        ),
        Column("kafka_partition", "INT", "and its partition", "kafka_partition", required=True),
        Column("kafka_offset", "BIGINT", "and its offset", "kafka_offset", required=True),
        Column("kafka_at", "TIMESTAMP", "when the broker or the producer stamped it", "kafka_at"),
        Column("reason", "STRING", "why it could not be folded", "reason"),
        Column("record", "BINARY", "the record's bytes, untouched", "record"),
        Column("ingested_at", "TIMESTAMP", "when the stream wrote the row", "current_timestamp()"),
    ),
    key=("kafka_topic", "kafka_partition", "kafka_offset"),
    properties={"delta.appendOnly": "true", "delta.checkpointInterval": "103"},
)
