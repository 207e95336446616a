"""How our Kafka clients are set up. The user's own client settings win over ours."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from watcher.log.batch import FRAMING_BYTES, MAX_RECORD_BYTES

# librdkafka writes a line per attempt to connect. What matters of it reaches the caller once, as a
# change of state or an error; to see all, set this logger to INFO.
LIBRDKAFKA = logging.getLogger("zklake.librdkafka")
LIBRDKAFKA.setLevel(logging.CRITICAL + 1)

# librdkafka waits up to 10 s between connection attempts: as long as a take-over needs.
_RECONNECT = {"reconnect.backoff.ms": 100, "reconnect.backoff.max.ms": 1000}

# Messages still unsent after message.timeout.ms fail; librdkafka sets it to transaction.timeout.ms
# and refuses a larger one. An open transaction hides nothing here: we are the topic's only writer,
# and the next watcher's fence ends it at once. So it may stay open through a long broker restart.
TRANSACTION_TIMEOUT_MS = 10 * 60 * 1000


def producer_config(
    bootstrap: str, client_config: Mapping[str, Any], transactional_id: str
) -> dict[str, Any]:
    """Settings of the one transactional producer of a cluster."""
    return {
        **_RECONNECT,
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "linger.ms": 5,
        "compression.type": "lz4",  # zstd needs brokers from 2.1
        "message.max.bytes": MAX_RECORD_BYTES + FRAMING_BYTES,
        "queue.buffering.max.messages": 1_000_000,
        "queue.buffering.max.kbytes": 256 * 1024,
        **client_config,
        # What exactly-once hangs on is not for the user to change.
        "bootstrap.servers": bootstrap,
        "transactional.id": transactional_id,
        "enable.idempotence": True,
        "acks": "all",
    }


def consumer_config(bootstrap: str, client_config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a consumer that reads one assigned partition and never commits."""
    return {
        **_RECONNECT,
        # The broker holds an empty fetch this long; the default costs 0.5 s at each end of a topic.
        "fetch.wait.max.ms": 10,
        # A full local queue pauses fetching for this long; the default is a whole second.
        "fetch.queue.backoff.ms": 10,
        "queued.max.messages.kbytes": 64 * 1024,
        "fetch.message.max.bytes": 8 * 1024 * 1024,
        **client_config,
        "bootstrap.servers": bootstrap,
        "group.id": "zklake.reader",  # asked for by the client, used for nothing
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
    }


def admin_config(bootstrap: str, client_config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of an AdminClient."""
    return {**_RECONNECT, **client_config, "bootstrap.servers": bootstrap}
