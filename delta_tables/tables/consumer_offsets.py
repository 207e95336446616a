"""consumer_offsets: how far each group had committed each partition, at any time."""

from __future__ import annotations

from collections.abc import Iterator

from delta_tables.intervals import INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.observation import of_payload
from delta_tables.samples import KAFKA, Sample, Samples, find_time
from delta_tables.table import PERSISTENT_ENDS, Column, Table
from delta_tables.tables.ownership_history import GROUP_PARTITION
from zklake.events.envelope import Event
from zklake.events.payloads.reading import LARGEST_INT


def _read_commits(event: Event) -> Iterator[Sample]:
    for commit in event.group_commit.commits if event.group_commit else ():
        if 0 <= commit.partition <= LARGEST_INT:
            key = (KAFKA, commit.group_id, commit.topic, commit.partition, None)
            values = {"committed_offset": commit.committed_offset}
            at_ms = find_time(event, commit.commit_at_ms)
            yield Sample(key, None if commit.tombstone else values, at_ms)


CONSUMER_OFFSETS = Table(
    name="consumer_offsets",
    grain="One row per committed offset of one group on one partition, until the next commit; of "
    "Kafka-stored groups until another offset is committed.",
    folded="intervals",
    kinds=("offset",),
    samples=Samples("group_commit", _read_commits, state=("committed_offset",)),
    columns=(
        *GROUP_PARTITION,
        Column(
            "committed_offset",
            "BIGINT",
            "next offset to read; 0.7: a byte position. It may fall, and outlive the topic",
            of_payload("offset"),
        ),
        *INTERVAL_COLUMNS,
    ),
    key=tuple(column.name for column in GROUP_PARTITION),
    ends=PERSISTENT_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "149"},
)
