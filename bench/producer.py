"""One process that appends a record to every partition in turn, at a pace, until it is ended.

`python -m bench.producer BOOTSTRAP SECONDS TOPIC…`: all partitions of the topics once in so many
seconds. A request holds a record for each partition of one topic that a broker leads.
"""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient

from lab.wire import TIMEOUT_S, Connection, frame, pack_string
from zklake.errors import LabError
from zklake.supervision.child_process import ChildProcess

_PRODUCE, _PRODUCE_VERSION = 0, 3
_ACKS_OF_LEADER = 1
_VALUE = bytes(100)
# Castagnoli's polynomial, its bits reversed.
_CRC32C = 0x82F63B78


class LeaderPartitions(NamedTuple):
    """The partitions of a topic that one broker leads."""

    topic: str
    partitions: tuple[int, ...]

    def pack(self, records: bytes) -> bytes:
        """The Produce request that appends these records to each of them."""
        each = b"".join(struct.pack(">ii", p, len(records)) + records for p in self.partitions)
        body = (
            struct.pack(">hhi", -1, _ACKS_OF_LEADER, int(TIMEOUT_S * 1000))
            + struct.pack(">i", 1)
            + pack_string(self.topic)
            + struct.pack(">i", len(self.partitions))
            + each
        )
        return frame(_PRODUCE, _PRODUCE_VERSION, body)

    def read_error(self, answer: bytes) -> int:
        """The first error in the answer to it, or 0."""
        # The number of topics, the topic, the number of partitions.
        at = 4 + len(pack_string(self.topic)) + 4
        errors = struct.unpack_from(">" + "ihqq" * len(self.partitions), answer, at)[1::4]
        return next(filter(None, errors), 0)


def start_producer(
    bootstrap: str, topics: Sequence[str], seconds: float, log_file: Path
) -> ChildProcess:
    """The process; it dies with us."""
    options = [bootstrap, str(seconds), *topics]
    return ChildProcess([sys.executable, "-m", "bench.producer", *options], log_file)


def produce(bootstrap: str, topics: Sequence[str], seconds: float) -> None:
    """Append for ever; an error of the brokers ends it."""
    parts = _find_parts(bootstrap, topics)
    connections = {address: Connection(address) for address, _ in parts}
    records = pack_record(_VALUE, int(time.time() * 1000))
    requests = [(connections[address], part, part.pack(records)) for address, part in parts]
    began = time.monotonic()
    for number, (connection, part, request) in enumerate(cycle(requests)):
        time.sleep(max(0.0, began + number * seconds / len(parts) - time.monotonic()))
        (answer,) = connection.ask([request])
        if error := part.read_error(answer):
            raise LabError(f"{part.topic} was not appended to: {KafkaError(error).str()}")


def _find_parts(bootstrap: str, topics: Sequence[str]) -> list[tuple[str, LeaderPartitions]]:
    """What each broker leads, by its address, topic by topic."""
    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=TIMEOUT_S)
    found = []
    for topic in topics:
        by_leader: dict[int, list[int]] = {}
        for number, partition in metadata.topics[topic].partitions.items():
            by_leader.setdefault(partition.leader, []).append(number)
        for leader, numbers in by_leader.items():
            broker = metadata.brokers[leader]
            found.append((f"{broker.host}:{broker.port}", LeaderPartitions(topic, tuple(numbers))))
    return found


def pack_record(value: bytes, at_ms: int) -> bytes:
    """One record as a batch of format 2."""
    # Attributes, timestamp and offset deltas, no key, the value, no headers.
    record = b"\0\0\0" + _pack_varint(-1) + _pack_varint(len(value)) + value + b"\0"
    record = _pack_varint(len(record)) + record
    # Attributes, last offset delta, timestamps, no producer (id, epoch, sequence), one record.
    body = struct.pack(">hiqqqhii", 0, 0, at_ms, at_ms, -1, -1, -1, 1) + record
    # Leader epoch and format stand before the checksum, which covers what follows it.
    head = struct.pack(">iBI", -1, 2, _sum_up(body))
    return struct.pack(">qi", 0, len(head) + len(body)) + head + body


def _pack_varint(number: int) -> bytes:
    rest = number << 1 ^ number >> 63
    packed = bytearray()
    while rest > 0x7F:
        packed.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*packed, rest])


def _sum_up(data: bytes) -> int:
    """CRC32C: slow, and needed once."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_CRC32C if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


if __name__ == "__main__":
    produce(sys.argv[1], sys.argv[3:], float(sys.argv[2]))
