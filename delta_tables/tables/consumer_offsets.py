"""consumer_offsets: how far each group had committed each partition, at any time."""

from __future__ import annotations

from delta_tables.intervals import INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.payload import Payload
from delta_tables.samples import KAFKA, Samples
from delta_tables.table import PERSISTENT_ENDS, Column, Table
from delta_tables.tables.ownership_history import GROUP_PARTITION

# A bare decimal in every release. The contract's decoder reads the rest (leading zeros, 19 digits).
_OFFSET = Payload(
    fields="offset BIGINT",
    # \\z: to Java $ also stands before a newline at the end.
    is_plain_text_sql=r"data RLIKE '^-?(0|[1-9][0-9]{0,17})\\z'",
    text_json_sql="""concat('{"version":1,"offset":', data, '}')""",
)

_COMMITS = Samples(
    op="group_commit",
    items="group_commit.commits",
    columns={
        "coordinator": f"'{KAFKA}'",
        "group_id": "item.group_id",
        "topic": "item.topic",
        "partition": "IF(item.partition >= 0, item.partition, NULL)",
        "committed_offset": "item.committed_offset",
    },
    state=("committed_offset",),
    at_ms="coalesce(item.commit_at_ms, observed_at_ms)",
    is_end="coalesce(item.tombstone, false)",
)

CONSUMER_OFFSETS = Table(
    name="consumer_offsets",
    grain="One row per committed offset of one group on one partition, until the next commit; of "
    "Kafka-stored groups until another offset is committed.",
    folded="intervals",
    kinds=("offset",),
    payload=_OFFSET,
    samples=_COMMITS,
    columns=(
        *GROUP_PARTITION,
        Column(
            "committed_offset",
            "BIGINT",
            "next offset to read; 0.7: a byte position. It may fall, and outlive the topic",
            "payload.offset",
        ),
        *INTERVAL_COLUMNS,
    ),
    key=tuple(column.name for column in GROUP_PARTITION),
    ends=PERSISTENT_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "149"},
)
