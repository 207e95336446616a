"""Nodes by which brokers nudge the controller. They live for milliseconds: signals, not state."""

from __future__ import annotations

from zklake.events.kind import Kind, Sample, directory
from zklake.events.payloads.admin import decode_partition_list
from zklake.events.payloads.reading import Document, Int32, Payload, Unreadable


class LogDirEvent(Payload, frozen=True, kw_only=True):
    """A log directory of one broker failed (event 1)."""

    broker: Int32
    event: Int32


_LOG_DIR_EVENT = Document(LogDirEvent, {1: ()})


def decode_log_dir_event(data: bytes | None) -> LogDirEvent | Unreadable:
    """A broker's word that a log directory failed."""
    return _LOG_DIR_EVENT.read(data)


KINDS = (
    directory("isr_changes_dir", "/isr_change_notification", "0.9-3.9"),
    Kind(
        "isr_change",
        "/isr_change_notification/isr_change_[sequence]",
        "0.9-3.9",
        "partitions whose leader changed the isr; none once the IBP is 2.7 or later",
        decode_partition_list,
        (Sample("0.9-3.9", b'{"version":1,"partitions":[{"topic":"orders","partition":0}]}'),),
        mode="sequential",
    ),
    directory("log_dir_events_dir", "/log_dir_event_notification", "1.0-3.9"),
    Kind(
        "log_dir_event",
        "/log_dir_event_notification/log_dir_event_[sequence]",
        "1.0-3.9",
        "a broker's log directory failed",
        decode_log_dir_event,
        (Sample("1.0-3.9", b'{"version":1,"broker":3,"event":1}'),),
        mode="sequential",
    ),
)
