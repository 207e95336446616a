from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from tests.watcher.log.writing import make_batch
from watcher.log.batch import Batch
from watcher.log.publisher import Publisher
from watcher.log.verdict import AbortNeeded, LostTrack, judge_delivery, judge_error


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (KafkaError(KafkaError._TIMED_OUT, retriable=True), "again"),
        (KafkaError(KafkaError.NOT_COORDINATOR, retriable=True), "again"),
        (KafkaError(KafkaError._MSG_TIMED_OUT, txn_requires_abort=True), "abort"),
        (KafkaError(KafkaError._FENCED, fatal=True), "fenced"),
        (KafkaError(KafkaError.PRODUCER_FENCED, fatal=True), "fenced"),
        (KafkaError(KafkaError.INVALID_PRODUCER_EPOCH), "fenced"),
        # The broker may have given up our own transaction: the abort finds out.
        (KafkaError(KafkaError.INVALID_PRODUCER_EPOCH, txn_requires_abort=True), "abort"),
        (KafkaError(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, fatal=True), "refused"),
        (KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, txn_requires_abort=True), "refused"),
        (KafkaError(KafkaError._STATE), "refused"),
        (KafkaError(KafkaError.INVALID_TXN_STATE, fatal=True), "lost"),
    ],
)
def test_each_class_of_error_asks_for_its_own_answer(error: KafkaError, verdict: str) -> None:
    assert judge_error(error) == verdict


def test_a_denied_topic_asks_for_a_new_client() -> None:
    denied = judge_delivery(KafkaError(KafkaError._UNKNOWN_TOPIC))
    assert isinstance(denied, LostTrack)
    assert isinstance(judge_delivery(KafkaError(KafkaError._MSG_TIMED_OUT)), AbortNeeded)


def test_every_transaction_that_failed_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    aborts: list[int] = []
    publisher = Publisher("127.0.0.1:1", {}, "nobody", on_abort=lambda: aborts.append(1))
    failures = iter([AbortNeeded("away"), LostTrack("denied"), None])

    def attempt(batch: Batch) -> None:
        if failure := next(failures):
            raise failure

    monkeypatch.setattr(publisher, "_attempt", attempt)
    monkeypatch.setattr(publisher, "_renew", lambda batch: None)
    monkeypatch.setattr(publisher, "_counts", lambda batch: False)
    publisher.publish(make_batch(1))
    assert len(aborts) == 2
    publisher.close()
