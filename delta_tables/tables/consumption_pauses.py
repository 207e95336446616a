"""consumption_pauses: when a group read nothing of a partition although records were there."""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, PARTITION_BY, VALIDITY_COLUMNS
from delta_tables.table import Column, Table
from delta_tables.tables.consumer_membership import COORDINATOR, GROUP_ID
from delta_tables.tables.log_ends import PARTITION, TOPIC

_HELD = (
    "what held: leader_away (the partition had no leader); unowned (nobody owned it); "
    "owner_crashed (its owner's session ended, and it had not committed just before); owner_stuck "
    "(an owner that had it for longer than usual); unknown (a gap hid it, or nobody says who owned "
    "it). Of several what held longest; while open: what holds now"
)
_SPANS = (
    "ARRAY<STRUCT<held: STRING, from_ms: BIGINT, to_ms: BIGINT, event_seq: BIGINT, "
    "owner_member_id: STRING, broker_id: BIGINT>>"
)

CONSUMPTION_PAUSES = Table(
    name="consumption_pauses",
    grain="One row per time in which a group made no progress on a partition although records were "
    "there: from the last progress to the next (docs/pauses.md).",
    folded="groups",
    columns=(
        CLUSTER,
        COORDINATOR,
        GROUP_ID,
        TOPIC,
        PARTITION,
        Column("incarnation", "BIGINT", "czxid of the topic; null: not known"),
        Column("committed_offset", "BIGINT", "where the group stood still"),
        Column("held", "STRING", _HELD, required=True),
        Column("owner", "STRING", "whose partition it was: who crashed, was stuck, or let it go"),
        Column("owner_member_id", "STRING", "the member that owner was"),
        Column("broker_id", "INT", "leader_away: the broker that led it last, if one is known"),
        Column(
            "event_seq",
            "BIGINT",
            "seq of the event behind it: the owner went (also one that was stuck), its session "
            "ended, the leader was lost; null: none was seen",
        ),
        Column(
            "held_ms",
            "MAP<STRING, BIGINT>",
            "how long each thing held; what is left of the pause may have been read in. null while "
            "open, and where reason says gap, as the columns below",
        ),
        Column(
            "least_ms",
            "BIGINT",
            "for so long at least nobody read: without leader or owner, with an owner that had "
            "crashed or let go (the next one reads again what it had not committed), or beyond the "
            "usual time between two commits",
        ),
        Column("most_ms", "BIGINT", "for so long at most: from one progress to the next"),
        Column(
            "usual_ms",
            "BIGINT",
            "how long records usually wait for a commit: the median of the last five times; null: "
            "not measured yet",
        ),
        Column("records", "BIGINT", "records that came meanwhile, by the rounds before both ends"),
        Column("records_waiting", "BIGINT", "records that waited to be read when it ended"),
        Column(
            "spans",
            _SPANS,
            "what held when, in order, one thing at a time, with the event behind it (epoch ms)",
        ),
        Column(
            "reason",
            "STRING",
            "why something is null: gap (nobody saw all of it); no_log_end (no round gave where "
            "the log ended)",
        ),
        *VALIDITY_COLUMNS,
    ),
    key=("cluster", "coordinator", "group_id", "topic", "partition"),
    ends=("progress", "emptied", "deleted"),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "181"},
)
