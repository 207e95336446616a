"""The event: one record of the log, as it stands on the wire (JSON).

This module is the contract between the watcher, which writes events, and the stream, which folds
them. It knows nothing of Kafka clients, kazoo or Spark.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from zklake.events.payloads.reading import Int32, Int64
from zklake.events.samples import GroupCommits, GroupState, LogEnds

# Raised when a reader of the previous version would misread an event; added fields do not count.
VERSION = 1

# A new log starts at (birth in seconds) × 2^20: seq keeps rising across re-created logs, backfilled
# history fits before it, and it stays below 2^53, so that JSON readers keep every digit.
SEQ_PER_SECOND = 1 << 20
Seq = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
# The log_id of events that were read from ZooKeeper's own files: they belong to no log of ours.
TXNLOG_ID = "txnlog"

# Deletes of one transaction reach the watcher together: those that come this close may be the end
# of one session. The watcher puts no sample between them, and the stream knows by it what ended.
SESSION_RUN_MS = 500

Op = Literal[
    "create",  # a znode came to be
    "set",  # its data was written (also with an equal value)
    "delete",  # it is gone
    "read",  # first sight of it, in a scan or a frame: no change is claimed
    "gap",  # from here the watcher was blind (path "/"), or what a gap hid under one parent
    "frame_begin",  # a base frame starts: a read of every znode follows
    "in_sync",  # the scan is complete: the log again says all there is
    "heartbeat",  # each second: time passes
    "unreadable",  # a znode the watcher may not read
    "log_ends",  # a sampling round: log start and end offsets that changed, and who answered
    "group_commit",  # offset commits of Kafka-stored groups: the last of each key in an interval
    "group_state",  # members and assignment of a Kafka-stored group
    "seq_hole",  # made by the stream: records are missing from the log before the next one
    "seq_repeat",  # made by the stream: a seq stands in the log at a second offset
]

Fidelity = Literal[
    "exact",  # the data is the data of this very version
    "superseded",  # a later write won before we could read this value; it may be healed afterwards
    "redacted",  # the data is withheld by policy; version, length and keyed hash stay
    "unreadable",  # ZooKeeper's ACL withholds it
    "oversize",  # data or path is larger than a record may be; length and keyed hash stay
]

Origin = Literal[
    "watch",  # by a watch event
    "scan",  # seen in a scan with no earlier knowledge
    "resync",  # inferred by comparing a scan with what was known
    "audit",  # a slow re-read of the tree found it
    "txnlog",  # from ZooKeeper's transaction log; with a log's own log_id its value alone (healed)
]
# Those of changes recorded as they happened; by the others a change is inferred, or only seen.
RECORDED_ORIGINS = ("watch", "txnlog")

GapReason = Literal[
    "first_start",  # a new log: nothing is known of the time before
    "restart",  # the watcher itself was away
    "disconnected",  # the connection broke
    "session_expired",  # ZooKeeper gave the session up
    "backpressure",  # the buffer was full (Kafka away, or reads slow): we let go of ZooKeeper
    "history_reset",  # the ensemble was restored from an older state: its zxid went back
    "model_lost",  # the tree topic does not match the log
    "coalesced",  # one-shot watches: some lives passed between two looks
    "event_lost",  # a counter shows a change without a watch event
    "seq_hole",  # records are missing from the log itself
    "seq_repeat",  # a seq stood in the log at a second offset; the first one counts
    "txnlog_hole",  # ZooKeeper's own files lack transactions here
    "txnlog_end",  # ZooKeeper's own files end here
]


class Stat(msgspec.Struct, frozen=True, omit_defaults=True):
    """ZooKeeper's stat; a field that is not known is absent."""

    czxid: Int64 | None = None
    mzxid: Int64 | None = None
    pzxid: Int64 | None = None
    ctime: Int64 | None = None
    mtime: Int64 | None = None
    version: Int32 | None = None
    cversion: Int32 | None = None
    aversion: Int32 | None = None
    ephemeral_owner: Int64 | None = None
    data_length: Int32 | None = None
    num_children: Int32 | None = None


class Gap(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a time in which the watcher could not see."""

    # Shared by the gap and by what was later found that it hid.
    id: str
    # Why the watcher could not see.
    reason: GapReason
    # The last moment at which the watcher still saw everything.
    from_ms: Int64 | None = None
    # The last zxid seen by then.
    from_zxid: Int64 | None = None
    # Lives (create + delete) under the event's path that came and went unseen, by cversion.
    lives: Int32 | None = None
    # True when the server has only one-shot watches: changes between two looks become one.
    coalescing: bool = False


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A complete look at the tree."""

    # Shared by frame_begin and in_sync.
    id: str
    # none: nothing older is vouched for, the fold closes every open row not re-seen.
    base: Literal["model", "none"] | None = None
    # How many znodes were seen.
    znodes: Int64 | None = None
    # How many of them the watcher may not read.
    unreadable: Int64 | None = None


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """One record of the log. `seq` is gapless for the life of a log."""

    # The watched cluster's name.
    cluster: str
    # Born with the log: another id is another history.
    log_id: str
    # The place in the log: one more than the record before.
    seq: Seq
    # What happened.
    op: Op
    # The watcher's clock; it never goes back within a log.
    observed_at_ms: Int64
    # The contract's version; a reader that meets a higher one sets the record aside.
    # (A factory, so that omit_defaults leaves it on the wire.)
    v: Int32 = msgspec.field(default_factory=lambda: VERSION)
    # The znode, as seen inside the chroot; ids of delegation tokens are keyed hashes, and so is
    # what follows `...~`, where a name is longer than 4096 characters or the path above it than
    # 12288: lives below such a path are not counted.
    path: str | None = None
    # The kind of znode, from the table below.
    kind: str | None = None
    # The transaction that did it, where it is known.
    zxid: Int64 | None = None
    # Else the transaction lies not before this one,
    zxid_min: Int64 | None = None
    # and not after this one.
    zxid_max: Int64 | None = None
    # The data, when its bytes are UTF-8; absent when there is none or it is withheld.
    data: str | None = None
    # The data in base64, when it is not UTF-8.
    data_b64: str | None = None
    # The data by zlib and base64, when it would not fit a record otherwise.
    data_zlib_b64: str | None = None
    # 16 hex digits of a keyed hash of the true data, also where the data is withheld.
    data_hash: str | None = None
    # How true the data is.
    fidelity: Fidelity = "exact"
    # ZooKeeper's stat, under ZooKeeper's names.
    stat: Stat | None = None
    # How the watcher came to know.
    origin: Origin | None = None
    # Data versions of this znode, before this event, that nobody saw.
    missed: Int32 | None = None
    # With op gap: what is known of it.
    gap: Gap | None = None
    # With frame_begin and in_sync: which frame.
    frame: Frame | None = None
    # With log_ends: partitions that changed, and the round that ends here.
    log_ends: LogEnds | None = None
    # With group_commit: the commits of an interval, or a part of them.
    group_commit: GroupCommits | None = None
    # With group_state: the group.
    group_state: GroupState | None = None
    # Of which session the change was, where it is known: only ZooKeeper's own files have it, of the
    # past and of what was healed.
    session: Int64 | None = None


class TreeRow(msgspec.Struct, frozen=True, array_like=True):
    """What was last published of one znode: a value of the compacted tree topic, keyed by path."""

    czxid: Int64
    mzxid: Int64
    version: Int32
    # Child creates + deletes accounted for so far, in the same count as ZooKeeper's cversion.
    cversion: Int32
    aversion: Int32
    num_children: Int32
    ephemeral_owner: Int64
    # 16 hex digits of the keyed hash of the data; empty when the data was never read.
    data_hash: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{16})?$")]
    unreadable: bool = False


class Meta(msgspec.Struct, frozen=True):
    """The tree topic's `#meta` row: how far the log has come. No path begins with `#`."""

    log_id: str
    seq: int
    zxid: int
    observed_at_ms: int
    # False until a first look at the whole tree is in the log: until then nothing can be inferred
    # from what the model lacks.
    complete: bool = False
    v: int = VERSION
    # The id in /cluster/id, as last read; empty when there was none.
    cluster_id: str = ""


META_KEY = "#meta"

encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(Event)


def decode(record: bytes) -> Event:
    """Read one record; raises msgspec.DecodeError. Fields we do not know are passed over."""
    return _decoder.decode(record)
