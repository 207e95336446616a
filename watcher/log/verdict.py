"""What an error of a transactional call asks for, by librdkafka's own classes. Pure."""

from __future__ import annotations

from typing import Literal

from confluent_kafka import KafkaError


class AbortNeeded(Exception):
    """This transaction cannot be committed; an equal one may."""


class LostTrack(Exception):
    """The client no longer knows its own transaction; only a new one can ask for the outcome."""


Verdict = Literal["again", "abort", "fenced", "lost", "refused"]

_FENCED = frozenset(
    (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
)


# A broker that has just started denies all topics for a moment. librdkafka believes it for minutes,
# and then also ends a transaction that never began: fatal. Only a new client asks again at once.
DENIED = frozenset(
    (
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    )
)


def judge_delivery(error: KafkaError) -> AbortNeeded | LostTrack:
    """What a record that was not delivered asks for."""
    kind = LostTrack if error.code() in DENIED else AbortNeeded
    return kind(f"not delivered: {error.str()}")


def judge_error(error: KafkaError) -> Verdict:
    """`again`: the same call; `abort`: a new transaction; `lost`: a new client; else final.

    An abort is asked first: INVALID_PRODUCER_EPOCH may also mean that the broker gave up our own
    slow transaction, and only the abort finds out whether somebody else holds the epoch.
    """
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        # Nothing was begun, so an abort fails too, and says nothing of the missing right.
        return "refused"
    if error.txn_requires_abort():
        return "abort"
    if error.code() in _FENCED:
        return "fenced"
    # A transaction that the coordinator never heard of. It compares epochs before states, so ours
    # is still the newest: no other watcher is there.
    if error.code() == KafkaError.INVALID_TXN_STATE:
        return "lost"
    if error.retriable() and not error.fatal():
        return "again"
    return "refused"
