"""The columns that every interval table carries around its key and payload.

A row is one state of one thing. "Now" is `WHERE is_open`; "at time t" is between valid_from_at and
valid_to_at; all rows are the history. The fold fills these columns in.
"""

from __future__ import annotations

from delta_tables.observation import constant, of_event, read_session
from delta_tables.table import ENDED_BY, Column

DECODE_ERRORS: dict[str, str] = {
    "no_data": "empty, where the znode must say something",
    "not_utf8": "the bytes are no text",
    "unknown_version": "JSON of a version that Kafka never wrote here",
    "malformed": "none of the forms that Kafka ever wrote here",
}


def _list(meanings: dict[str, str]) -> str:
    return "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())


CLUSTER = Column(
    "cluster", "STRING", "name of the watched cluster", of_event("cluster"), required=True
)
SESSION = Column(
    "session",
    "BIGINT",
    "ZooKeeper session that holds the znode (ephemeral_owner); null: none, or not known",
    read_session,
)

# How somebody left (docs/rebalances.md). Whoever reads a znode knows nothing of it: the fold does.
EXIT_COLUMNS = (
    Column(
        "exit",
        "STRING",
        "how it left: clean, crashed or unknown; null while it is here, and where another state of "
        "the same registration followed",
        constant(None),
    ),
    Column(
        "exit_evidence", "STRING", "what shows how it left, or why nothing does", constant(None)
    ),
)

# Of which life and value of a znode a row speaks.
LIFE_COLUMNS = (
    Column("czxid", "BIGINT", "zxid that created the znode; a new one when it is created again"),
    Column("znode_version", "INT", "data version of the znode in this state"),
    Column("fidelity", "STRING", "exact, or why the payload is not known: see docs/events.md"),
    Column(
        "is_known",
        "BOOLEAN",
        "whether the znode's value is known and decoded; if not, the payload is null",
        required=True,
    ),
    Column(
        "decode_error",
        "STRING",
        f"why the payload is null although the znode held a value ({_list(DECODE_ERRORS)})",
    ),
)

ZNODE_COLUMNS = (
    *LIFE_COLUMNS,
    Column(
        "unseen_versions",
        "BIGINT",
        "data versions of this znode (same czxid) just before this state that have no row",
    ),
)

VALIDITY_COLUMNS = (
    Column("seen_seq", "BIGINT", "seq of the last event that showed the thing in this row's time"),
    Column("valid_from_seq", "BIGINT", "seq of the event that began this state", required=True),
    Column("valid_from_zxid", "BIGINT", "zxid that began this state, where known"),
    Column(
        "valid_from_at", "TIMESTAMP", "when it began: the znode's mtime (ctime at its creation)"
    ),
    Column("valid_to_seq", "BIGINT", "seq of the event that ended this state; null while open"),
    Column("valid_to_zxid", "BIGINT", "zxid that ended this state, where known"),
    Column(
        "valid_to_at",
        "TIMESTAMP",
        "when it ended: the start of the next state, or when the end was observed",
    ),
    Column(
        "valid_to_at_min",
        "TIMESTAMP",
        "only where a gap hid the end: it came after this moment, and by valid_to_at at the latest",
    ),
    Column(
        "is_clamped",
        "BOOLEAN",
        "valid_to_at was raised to valid_from_at, because the clocks of two machines disagree",
        required=True,
    ),
    Column("ended_by", "STRING", _list(ENDED_BY)),
    Column("is_open", "BOOLEAN", "whether the state still holds", required=True),
    Column("closed_on", "DATE", "UTC date of valid_to_at; null while open"),
)

INTERVAL_COLUMNS = (*ZNODE_COLUMNS, *VALIDITY_COLUMNS)

# Open rows lie in files of their own, which commits replace; closed rows are never touched again.
PARTITION_BY = ("is_open", "closed_on")
