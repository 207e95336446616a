"""One process that appends a record to every partition in turn, at a pace, until it is ended.

`python -m bench.producer BOOTSTRAP PARTITIONS SECONDS TOPIC…`: so many partitions of each topic,
all of them once in so many seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lab.leash import Leash
from lab.zookeeper_consumer.producing import enqueue

_VALUE = bytes(100)
# A nap for each record would cost more than the record.
_AT_ONCE = 50


def start_producer(
    bootstrap: str, topics: Sequence[str], partitions: int, seconds: float, log_file: Path
) -> Leash:
    """The process; it dies with us."""
    options = [bootstrap, str(partitions), str(seconds), *topics]
    return Leash([sys.executable, "-m", "bench.producer", *options], log_file)


def produce(bootstrap: str, topics: Sequence[str], partitions: int, seconds: float) -> None:
    """Append for ever; an error of the brokers ends it."""
    places = [(topic, partition) for partition in range(partitions) for topic in topics]
    # Where brokers are slower than the pace, no more waits than one record of each partition.
    most = {"queue.buffering.max.messages": len(places)}
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 3, **most})
    began = time.monotonic()
    for number, (topic, partition) in enumerate(cycle(places)):
        if number % _AT_ONCE == 0:
            producer.poll(0)
            time.sleep(max(0.0, began + number * seconds / len(places) - time.monotonic()))
        enqueue(producer, topic, _VALUE, partition=partition, on_delivery=_check)


def _check(error: KafkaError | None, _message: Message) -> None:
    if error is not None:
        raise KafkaException(error)


if __name__ == "__main__":
    produce(sys.argv[1], sys.argv[4:], int(sys.argv[2]), float(sys.argv[3]))
