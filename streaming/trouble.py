"""What a failed run means: Kafka away, a lake that cannot be written, a lost log, or a bug.

Java's errors come as text with causes inside; the signs below were seen in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streaming.fold.failure import Unfoldable
from zklake.errors import LakeError, LogError, QueryError, ZklakeError
from zklake.settings.names import MASK

_LOSS = re.compile(r"KAFKA_DATA_LOSS|OffsetOutOfRange|may have been lost|could not be met")
_KAFKA = re.compile(
    r"org\.apache\.kafka\.common\.(?:errors\.\w+|KafkaException)|Cannot fetch record for offset"
    r"|UnknownTopicOrPartition"
)
_CONFLICT = re.compile(r"DELTA_CONCURRENT_\w+|DELTA_METADATA_CHANGED|Concurrent\w+Exception")
_NOT_WRITABLE = {
    "No space left on device": "the disk is full",
    "Disk quota exceeded": "the disk quota is used up",
    "File too large": "a file may not grow that large",
    "Read-only file system": "the file system is read-only",
    "Permission denied": "permission denied",
    "AccessDenied": "permission denied",
    "Operation not permitted": "permission denied",
    "Not a directory": "a file stands where a directory must be",
    "[Errno 17] File exists": "a file stands where a directory must be",
    "Input/output error": "the disk reports errors",
    "Stale file handle": "the file system is gone",
    "Transport endpoint is not connected": "the file system is gone",
    # Hadoop's local file system does not say why.
    "DELTA_CANNOT_CREATE_LOG_PATH": "a directory cannot be made",
    "Mkdirs failed to create": "a directory cannot be made",
}
_SPARK_FRAME = re.compile(
    r"^\[STREAM_FAILED\] Query \[.*?\] terminated with exception: | SQLSTATE: .*$"
)
_SHOWN_CHARACTERS = 400


class NotWritable(LakeError):
    """The lake cannot be written for a reason outside of us; `reason` in a few words."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class BatchFailed(LakeError):
    """A batch failed for a reason that we do not know."""


class EventFailed(BatchFailed):
    """A batch failed because of one event; `seq` and `reason` say which and why."""

    def __init__(self, message: str, seq: int, reason: str) -> None:
        super().__init__(message)
        self.seq, self.reason = seq, reason


def explain(
    error: BaseException, *, log: str, lake: str, secrets: Iterable[str] = ()
) -> ZklakeError:
    """What a run's error means; `log` and `lake` say where they are."""
    if isinstance(error, Unfoldable):
        return EventFailed(f"a batch into {lake} failed: {error}", error.seq, error.reason)
    trace = _read_trace(error)
    text = _hide(_find_root(trace), secrets)
    reason = _find_reason(trace)
    # A query of ours that fails is no mistake of the user's: it says as little as Java's errors.
    is_plain = isinstance(error, NotWritable) or not (reason or isinstance(error, QueryError))
    if isinstance(error, ZklakeError) and is_plain:
        return error
    if _LOSS.search(trace):
        return LakeError(
            f"{log} no longer holds what follows the lake {lake}: {text}. "
            "Fold the log into a new lake (--lake), or restore the topic"
        )
    if reason:
        return NotWritable(f"the lake {lake} cannot be written: {reason}: {text}", reason)
    if _KAFKA.search(trace):
        return LogError(
            f"{log} cannot be read: {text}. "
            "Is the log's Kafka up, and has `zklake watch` made the topic?"
        )
    return _explain_failure(trace, text, lake)


def _explain_failure(trace: str, text: str, lake: str) -> BatchFailed:
    if _CONFLICT.search(trace):
        return BatchFailed(f"another process writes the lake {lake}: {text}")
    if "OutOfMemoryError" in trace:
        text += " (stream.driver_memory sets the heap)"
    return BatchFailed(f"a batch into {lake} failed: {text}")


def _read_trace(error: BaseException) -> str:
    """The error with everything that caused it, in Python and in the JVM."""
    read_java = getattr(error, "getStackTrace", None)
    parts = [str(error), str(read_java()) if read_java else ""]
    if error.__cause__ is not None and (cause := _read_trace(error.__cause__)) not in parts:
        parts.append(cause)
    return "\n".join(part for part in parts if part)


def _find_reason(trace: str) -> str | None:
    return next((reason for sign, reason in _NOT_WRITABLE.items() if sign in trace), None)


def _find_root(trace: str) -> str:
    """The innermost cause, in one line."""
    causes = re.findall(r"^Caused by: (.*)$", trace, re.MULTILINE)
    root = causes[-1] if causes else trace.strip().partition("\n\n")[0]
    # Spark puts the query's ids before the cause, and its plan and offsets behind.
    root = _SPARK_FRAME.sub("", " ".join(root.split()))
    return root[:_SHOWN_CHARACTERS]


def _hide(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text
