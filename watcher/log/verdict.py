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


def judge_error(error: KafkaError) -> Verdict:
    """`again`: the same call; `abort`: a new transaction; `lost`: a new client; else final.

    An abort is asked first: INVALID_PRODUCER_EPOCH may also mean that the broker gave up our own
    slow transaction, and only the abort finds out whether somebody else holds the epoch.
    """
    if error.txn_requires_abort():
        return "abort"
    if error.code() in _FENCED:
        return "fenced"
    # Seen after a broker's kill -9 in mid-transaction. The coordinator compares epochs before
    # states, so ours is still the newest: no other watcher is there.
    if error.code() == KafkaError.INVALID_TXN_STATE:
        return "lost"
    if error.retriable() and not error.fatal():
        return "again"
    return "refused"
