"""znode_events: the log as it was read, and the lake's watermark: its largest seq."""

from __future__ import annotations

from delta_tables.struct_types import write_type
from delta_tables.table import Column, Table
from zklake.events.samples import GroupCommits, GroupState, LogEnds

STAT = (
    "STRUCT<czxid: BIGINT, mzxid: BIGINT, pzxid: BIGINT, ctime: BIGINT, mtime: BIGINT, "
    "version: INT, cversion: INT, aversion: INT, ephemeral_owner: BIGINT, data_length: INT, "
    "num_children: INT>"
)
GAP = (
    "STRUCT<id: STRING, reason: STRING, from_ms: BIGINT, from_zxid: BIGINT, lives: INT, "
    "coalescing: BOOLEAN>"
)
FRAME = "STRUCT<id: STRING, base: STRING, znodes: BIGINT, unreadable: BIGINT>"

# The event's own fields, under their names on the wire: also the schema that records are read with.
EVENT_COLUMNS = (
    Column("cluster", "STRING", "name of the watched cluster", required=True),
    Column("log_id", "STRING", "born with the log; another one is another history", required=True),
    Column("seq", "BIGINT", "order of all events of the cluster; gapless for a log", required=True),
    Column("op", "STRING", "what happened: see docs/events.md", required=True),
    Column("observed_at_ms", "BIGINT", "watcher's clock, ms; never decreases", required=True),
    Column("v", "INT", "version of the event's form"),
    Column("path", "STRING", "znode, without the chroot"),
    Column("kind", "STRING", "which of Kafka's znodes it is"),
    Column("zxid", "BIGINT", "transaction that made the change, where known"),
    Column("zxid_min", "BIGINT", "it happened after this zxid (inferred changes)"),
    Column("zxid_max", "BIGINT", "and not after this one"),
    Column("data", "STRING", "the value, when it is UTF-8"),
    Column("data_b64", "STRING", "the value in base64, when it is not"),
    Column("data_zlib_b64", "STRING", "the value in zlib and base64, when it is large"),
    Column("data_hash", "STRING", "keyed hash of the value"),
    Column("fidelity", "STRING", "exact, or why the value is missing (superseded may be healed)"),
    Column("stat", STAT, "ZooKeeper's stat, as far as known"),
    Column(
        "origin",
        "STRING",
        "how the watcher came to know; txnlog: read from ZooKeeper's files, with another log_id "
        "than txnlog the value alone (healed)",
    ),
    Column("missed", "INT", "data versions of the znode before this one that nobody saw"),
    Column("gap", GAP, "what is known of a time in which the watcher could not see"),
    Column("frame", FRAME, "a complete look at the tree: where it begins and ends"),
    Column(
        "log_ends",
        write_type(LogEnds),
        "log start and end offsets that changed, and the sampling round that ends here",
    ),
    Column(
        "group_commit",
        write_type(GroupCommits),
        "offset commits of Kafka-stored groups, the last of each key in an interval",
    ),
    Column(
        "group_state",
        write_type(GroupState),
        "members and assignment of a Kafka-stored group",
    ),
    Column("session", "BIGINT", "session that made the change: of the past, and of healed events"),
)

ZNODE_EVENTS = Table(
    name="znode_events",
    grain="One row per record of the log; of the heartbeats only the first of each minute. "
    "Offsets and samples are kept for maintenance.sample_days (7 days).",
    columns=(
        *EVENT_COLUMNS,
        Column("observed_at", "TIMESTAMP", "observed_at_ms as a time"),
        Column("kafka_topic", "STRING", "where the record stands in Kafka"),
        Column("kafka_partition", "INT", "and its partition"),
        Column("kafka_offset", "BIGINT", "and its offset: the stream starts behind the last"),
        Column("ingested_at", "TIMESTAMP", "when the stream wrote the row"),
        Column("observed_on", "DATE", "UTC date of observed_at"),
    ),
    key=("cluster", "seq"),
    partition_by=("observed_on",),
    properties={"delta.checkpointInterval": "101"},
)
