"""What an earlier watcher left in the log: its model of the tree, and how far it had come.

Read only after fencing: before it, the other watcher may still be writing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from confluent_kafka import OFFSET_BEGINNING, Message

from watcher.log.partition import PartitionReader
from zklake.events.envelope import META_KEY, Meta, TreeRow
from zklake.events.topics import name_topics

Problem = Literal["first_start", "model_lost"]


class Resume(NamedTuple):
    """Where to go on. Without a problem `rows` is the tree as last published."""

    # None: no log was here. Else the next event is meta.seq + 1, in the log meta.log_id.
    meta: Meta | None
    rows: dict[str, TreeRow] | None
    problem: Problem | None
    # Keys with a row in the tree topic that nobody vouches for; bytes that are no text stand as
    # surrogates. Tombstone them before a base frame begins, or the next restart takes them for
    # znodes that are gone.
    leftover: frozenset[str] = frozenset()


class LastEvent(msgspec.Struct, frozen=True):
    """What of the newest event is needed to go on after it."""

    log_id: str
    seq: int
    observed_at_ms: int
    zxid: int | None = None


decode_last = msgspec.json.Decoder(LastEvent).decode
_meta = msgspec.json.Decoder(Meta)
_row = msgspec.json.Decoder(TreeRow)


def read_tree(bootstrap: str, client_config: Mapping[str, Any], cluster: str) -> Resume:
    """Read the tree topic to its end and the newest event, and say whether they agree."""
    topics = name_topics(cluster)
    with PartitionReader(bootstrap, client_config, topics.tree) as tree:
        values = _fold_last(tree)
    with PartitionReader(bootstrap, client_config, topics.events) as events:
        last = read_last_event(events)
    return compare(values, last)


def read_last_event(events: PartitionReader) -> LastEvent | None:
    """The newest committed event of the event topic."""
    newest = events.read_last(lambda message: _decode_event(message) is not None)
    return None if newest is None else _decode_event(newest)


def compare(values: dict[bytes, bytes], last: LastEvent | None) -> Resume:
    """Judge the tree topic's last values by the newest event of the event topic."""
    written = values.pop(META_KEY.encode(), None)
    named = {key.decode(errors="surrogateescape"): value for key, value in values.items()}
    strangers = frozenset(key for key in named if not _is_path(key))
    try:
        meta = None if written is None else _meta.decode(written)
        rows = {key: _row.decode(row) for key, row in named.items() if key not in strangers}
    except msgspec.DecodeError:
        meta, rows = None, {}
    if meta is not None and last is not None and (meta.log_id, meta.seq) == (last.log_id, last.seq):
        return Resume(meta, rows, None, strangers)
    problem: Problem = "first_start" if meta is None and last is None else "model_lost"
    return Resume(_join(meta, last), None, problem, frozenset(named))


def _is_path(key: str) -> bool:
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return key.startswith("/")


def _join(meta: Meta | None, last: LastEvent | None) -> Meta | None:
    """The later of both in everything, so that neither seq nor observed_at ever goes back."""
    if last is None:
        return meta
    published = Meta(last.log_id, last.seq, last.zxid or 0, last.observed_at_ms)
    if meta is None:
        return published
    return Meta(
        log_id=last.log_id,
        seq=max(meta.seq, last.seq),
        zxid=max(meta.zxid, published.zxid),
        observed_at_ms=max(meta.observed_at_ms, last.observed_at_ms),
        cluster_id=meta.cluster_id,
    )


def _fold_last(tree: PartitionReader) -> dict[bytes, bytes]:
    """The last value of every key; a tombstone takes the key away."""
    values: dict[bytes, bytes] = {}
    for chunk in tree.read_from(OFFSET_BEGINNING):
        for message in chunk:
            key, value = message.key(), message.value()
            if key is None:
                continue
            if value is None:
                values.pop(key, None)
            else:
                values[key] = value
    return values


def _decode_event(message: Message) -> LastEvent | None:
    """None for a record that is no event of ours; the stream quarantines it."""
    try:
        return decode_last(message.value() or b"")
    except msgspec.DecodeError:
        return None
