"""Where a text stands that should stand nowhere: topics, files, command lines. Plain, and decoded.

Written apart from the product's own search (streaming/erasure): it may share no mistake with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, KafkaError, TopicPartition


def read_topic(bootstrap: str, topic: str, client: Mapping[str, Any] | None = None) -> list[bytes]:
    """Key and value of every record there is, also of aborted transactions."""
    options = {
        **(client or {}),
        "bootstrap.servers": bootstrap,
        "group.id": "tests",
        "isolation.level": "read_uncommitted",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "log_level": 0,
    }
    consumer, found = Consumer(options), list[bytes]()
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=60)
        if low == high:
            return []
        consumer.assign([TopicPartition(topic, 0, low)])
        while True:
            message = consumer.poll(60)
            assert message is not None, f"{topic} is not read to its end"
            error = message.error()
            if error is None:
                found.append((message.key() or b"") + b"\n" + (message.value() or b""))
            elif error.code() == KafkaError._PARTITION_EOF:
                return found
    finally:
        consumer.close()


def find_in_files(directory: Path, signs: Iterable[str]) -> list[str]:
    """The files below a directory that hold one of the signs."""
    wanted = [sign.encode() for sign in signs]
    found = []
    for path in directory.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file() and any(sign in _decode(path) for sign in wanted):
                found.append(str(path))
    return found


def _decode(path: Path) -> bytes:
    """A file's bytes, and of Parquet also its rows: pages are packed."""
    raw = path.read_bytes()
    if path.suffix == ".parquet":
        with suppress(pa.ArrowInvalid):
            raw += str(pq.read_table(pa.BufferReader(raw)).to_pylist()).encode()
    return raw


def read_command_lines(pids: Iterable[int]) -> Iterator[str]:
    """The arguments of processes, as everybody on the machine can see them."""
    for pid in pids:
        with suppress(OSError):
            yield (
                Path(f"/proc/{pid}/cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode(errors="replace")
            )


def list_descendants(pid: int | None = None) -> list[int]:
    """The processes below one, or below ourselves."""
    parents = dict[int, int]()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                stat = Path(f"/proc/{entry}/stat").read_text()
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    found, new = list[int](), [os.getpid() if pid is None else pid]
    while new:
        new = [child for child, parent in parents.items() if parent in new]
        found += new
    return found
