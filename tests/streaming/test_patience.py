from __future__ import annotations

import pytest

from streaming.patience import MOST_EQUAL, RetryPolicy
from streaming.trouble import BatchFailed, NotWritable, explain
from zklake.errors import LakeError, LogError, OtherLog, QueryError, ZklakeError

PLACES = {"log": "topic t on b:1", "lake": "/lake/c"}


def test_outages_are_waited_out_with_longer_and_longer_waits() -> None:
    patience = RetryPolicy()
    outages: list[ZklakeError] = [LogError("away"), NotWritable("full", "the disk is full")]
    waits = [patience.judge(outages[i % 2], 7) for i in range(20)]
    assert waits[0] == 1
    assert waits == sorted(waits)
    assert waits[-1] == 30
    patience.forget()
    assert patience.judge(LogError("away"), 7) == 1


def test_equal_failures_at_one_place_end_it() -> None:
    patience = RetryPolicy()
    for job in range(MOST_EQUAL - 1):
        patience.judge(BatchFailed(f"job {job} failed"), 7)
    with pytest.raises(BatchFailed, match=r"job 9 failed.*3 times.*after seq 7"):
        patience.judge(BatchFailed("job 9 failed"), 7)


def test_a_batch_that_failed_is_tried_again_with_less() -> None:
    patience = RetryPolicy()
    assert patience.limit(300_000) == 300_000
    patience.judge(LogError("away"), 7)
    assert patience.limit(300_000) == 300_000
    patience.judge(BatchFailed("out of memory"), 7)
    assert patience.limit(300_000) == 37_500
    patience.judge(BatchFailed("out of memory"), 7)
    assert patience.limit(300_000) == 4_687
    patience.judge(BatchFailed("out of memory"), 9)
    assert patience.limit(300_000) == 37_500
    assert patience.limit(1) == 1


def test_other_failures_or_other_places_do_not_add_up() -> None:
    patience = RetryPolicy()
    failures = [("x", seq) for seq in range(10)] + [(text, 7) for text in "abab"]
    waits = [patience.judge(BatchFailed(text), seq) for text, seq in failures]
    assert waits == [1, 2, 4, 8, 16, *[30] * 9]


def test_an_outage_in_between_does_not_hide_a_failure() -> None:
    patience = RetryPolicy()
    patience.judge(BatchFailed("x"), 7)
    patience.judge(LogError("away"), 7)
    patience.forget()
    patience.judge(BatchFailed("x"), 7)
    with pytest.raises(BatchFailed):
        patience.judge(BatchFailed("x"), 7)


@pytest.mark.parametrize("error", [OtherLog("other"), LakeError("lost"), ZklakeError("?")])
def test_what_no_wait_mends_stops_at_once(error: ZklakeError) -> None:
    with pytest.raises(type(error)):
        RetryPolicy().judge(error, 7)


class JavaError(Exception):
    def getStackTrace(self) -> str:
        return "\n".join(str(line) for line in self.args[1:])


@pytest.mark.parametrize(
    ("trace", "kind", "says"),
    [
        ("java.io.IOException: No space left on device", NotWritable, "the disk is full"),
        ("java.io.FileNotFoundException: /x (Permission denied)", NotWritable, "permission denied"),
        ("java.nio.file.FileSystemException: /x: Read-only file system", NotWritable, "read-only"),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out", LogError, "zklake watch"),
        ("java.lang.IllegalStateException: [KAFKA_DATA_LOSS.X] gone", LakeError, "no longer holds"),
        ("io.delta.exceptions.ConcurrentAppendException: [DELTA_CONCURRENT_APPEND]", BatchFailed,
         "another process writes"),
        ("java.lang.OutOfMemoryError: Java heap space", BatchFailed, "stream.driver_memory"),
        ("java.lang.NullPointerException", BatchFailed, "a batch into /lake/c failed"),
    ],
)  # fmt: skip
def test_java_causes_are_understood(trace: str, kind: type[ZklakeError], says: str) -> None:
    frames = "  at org.apache.kafka.common.utils.KafkaThread.run(KafkaThread.java:1)"
    error = JavaError("[TASK_WRITE_FAILED] Task failed", frames, f"Caused by: {trace}")
    found = explain(error, **PLACES)
    assert type(found) is kind
    assert says in str(found)


def test_python_causes_are_understood_too() -> None:
    found = explain(OSError(28, "No space left on device"), **PLACES)
    assert isinstance(found, NotWritable)
    found = explain(FileExistsError(17, "File exists", "/lake/c"), **PLACES)
    assert isinstance(found, NotWritable)
    assert isinstance(explain(QueryError("the query failed"), **PLACES), BatchFailed)
    own = OtherLog("other")
    assert explain(own, **PLACES) is own


def test_what_spark_puts_around_a_cause_is_not_shown() -> None:
    text = (
        "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: "
        "org.apache.kafka.common.errors.TimeoutException: no node SQLSTATE: XXKST\n"
        "=== Streaming Query ===\nIdentifier: x"
    )
    found = explain(JavaError(text), **PLACES)
    assert isinstance(found, LogError)
    assert "cannot be read: org.apache.kafka.common.errors.TimeoutException: no node. " in str(
        found
    )


def test_secrets_are_not_repeated() -> None:
    found = explain(ValueError("cannot log in with hunter2"), secrets=["hunter2"], **PLACES)
    assert "hunter2" not in str(found)
    assert "cannot log in" in str(found)
