"""Subjects as rows of offset_lag, and back. Dicts are made only here, when somebody takes them."""

from __future__ import annotations

import msgspec

from delta_tables.observation import read_millis
from streaming.fold.lag.subject import Facts, Point, Subject
from streaming.fold.row import Row

_COLUMNS = Point.__struct_fields__
_encode = msgspec.json.Encoder().encode


def tell_open(cluster: str, subject: Subject) -> Row:
    """The open row."""
    row = _tell(cluster, subject)
    row["fold_state"] = _encode(subject.facts).decode()
    return row


def tell_ended(cluster: str, subject: Subject, seq: int, at_ms: int, word: str) -> Row:
    """The row, ended; rounds never come before what they end."""
    row = _tell(cluster, subject)
    row["valid_to_seq"], row["valid_to_at"] = seq, read_millis(at_ms)
    row["ended_by"], row["is_open"] = word, False
    return row


def _tell(cluster: str, subject: Subject) -> Row:
    p = subject.point
    assert p is not None
    # One display, written out: a hundred thousand of these are made at a time.
    return {
        "cluster": cluster,
        "coordinator": subject.group.key.coordinator,
        "group_id": subject.group.key.group_id,
        "topic": subject.place.topic,
        "partition": subject.place.partition,
        "incarnation": p.incarnation,
        "owner": p.owner,
        "owner_member_id": p.owner_member_id,
        "committed_offset": p.committed_offset,
        "committed_at": p.committed_at,
        "log_start_offset": p.log_start_offset,
        "log_end_offset": p.log_end_offset,
        "sampled_at": subject.sampled_ms,
        "lag": p.lag,
        "raw_lag": p.raw_lag,
        "reason": p.reason,
        "lag_seconds": p.lag_seconds,
        "lag_seconds_error": p.lag_seconds_error,
        "lag_quality": p.lag_quality,
        "velocity": p.velocity,
        "catch_up_seconds": p.catch_up_seconds,
        "retention_share": p.retention_share,
        "lost_records": p.lost_records,
        "loss_at": p.loss_at,
        "other_offset": p.other_offset,
        "divergence": p.divergence,
        "status": p.status,
        "status_since": p.status_since,
        "seen_seq": subject.row_seen_seq,
        "valid_from_seq": subject.row_seq,
        "valid_from_zxid": None,
        "valid_from_at": subject.row_ms,
        "valid_to_seq": None,
        "valid_to_zxid": None,
        "valid_to_at": None,
        "valid_to_at_min": None,
        "is_clamped": False,
        "ended_by": None,
        "is_open": True,
        "fold_state": None,
    }


def recall(subject: Subject, row: Row) -> None:
    """Take up an open row."""
    subject.point = Point(*(row[name] for name in _COLUMNS))
    subject.facts = msgspec.json.decode(row["fold_state"], type=Facts)
    subject.sampled_ms = row["sampled_at"]
    subject.row_seq, subject.row_ms = row["valid_from_seq"], row["valid_from_at"]
    subject.row_seen_seq = row["seen_seq"]
