"""Pauses as rows of consumption_pauses: dicts are made here alone."""

from __future__ import annotations

from streaming.fold.lag.group_partition import GroupPartition
from streaming.fold.pauses.holders import find_main, find_pieces, find_present
from streaming.fold.pauses.pause import End, measure
from streaming.fold.pauses.silence import Silence, Span
from streaming.fold.row import Row, close_row, open_row

# Columns that are only known at its end.
RESULTS = (
    *("held_ms", "least_ms", "most_ms", "usual_ms", "records", "records_waiting", "spans"),
    "reason",
)


def find_place(cluster: str, each: GroupPartition) -> Row:
    """The key columns of a group's partition."""
    return {
        "cluster": cluster,
        "coordinator": each.group.key.coordinator,
        "group_id": each.group.key.group_id,
        "topic": each.partition.topic,
        "partition": each.partition.number,
    }


def write_open(place: Row, silence: Silence, pause_after_ms: int) -> Row:
    """A pause that lasts: nothing in its row grows with time."""
    assert silence.from_ms is not None
    held = find_present(silence, place["coordinator"], pause_after_ms)
    return _write(place, silence, silence.from_ms, silence.from_seq, held)


def write_ended(place: Row, silence: Silence, begin_ms: int, end: End, pause_after_ms: int) -> Row:
    """A pause that is over."""
    begin_seq = silence.seq if silence.from_ms is None else silence.from_seq
    pieces = find_pieces(silence, place["coordinator"], begin_ms, end.at_ms, pause_after_ms)
    held = Span("unknown", 0) if silence.is_hidden else find_main(pieces)
    row = _write(place, silence, begin_ms, begin_seq, held)
    row |= measure(silence, pieces, begin_ms, end)
    close_row(row, end.seq, None, end.at_ms, ended_by=end.word)
    return row


def _write(place: Row, silence: Silence, begin_ms: int, begin_seq: int, held: Span) -> Row:
    columns: Row = {
        **place,
        "incarnation": silence.incarnation,
        "committed_offset": silence.offset,
        "held": held.held,
        "owner": held.owner,
        "owner_member_id": held.owner_member_id,
        "broker_id": held.broker_id,
        "event_seq": held.event_seq,
        **dict.fromkeys(RESULTS),
    }
    return open_row(columns.pop("cluster"), begin_seq, None, begin_ms, **columns)
