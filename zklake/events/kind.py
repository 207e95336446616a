"""What one kind of znode is: where it stands, how it reads, how much of it may leave the process.

The registry of all kinds is kinds.py; the rows themselves stand beside their payloads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from zklake.events.payloads.reading import Payload, Unreadable, decode_empty

Decoder = Callable[[bytes | None], Payload | Unreadable]

Mode = Literal[
    "persistent",  # stays until somebody deletes it
    "ephemeral",  # goes with the session that made it
    "sequential",  # persistent, and ZooKeeper numbers it
]

Sensitivity = Literal[
    "open",  # published; what looks like a credential inside is masked all the same
    "empty",  # carries no data; if there is some, it is nothing we know, and withheld
    "config",  # names of keys; values only of keys on Kafka's own lists (config_keys.py) or opened
    "user",  # names of keys; values only of quotas: nothing opens SCRAM entries
    "change",  # the entity's name is withheld when it is a user's
    "sealed",  # metadata only; publish_paths opens it
    "token",  # metadata only, and the name itself is a secret; publish_paths opens the rest
    "secret",  # metadata only; nothing opens it
]


class Sample(NamedTuple):
    """Data as a named range of Kafka releases writes it."""

    releases: str
    data: bytes | None


class Kind(NamedTuple):
    """One row of the catalogue. `[name]` in a pattern is a parameter of the path."""

    name: str
    pattern: str
    releases: str
    says: str
    decode: Decoder = decode_empty
    samples: tuple[Sample, ...] = (Sample("all", None),)
    mode: Mode = "persistent"
    sensitivity: Sensitivity = "open"
    # Other places at which the same kind stands, e.g. 0.7's `[broker_id]-[partition]` names.
    also: tuple[str, ...] = ()


def directory(name: str, pattern: str, releases: str) -> Kind:
    """A znode that only holds children: null from KafkaZkClient, b'' from the old consumer."""
    samples = (Sample("KafkaZkClient, zkclient", None), Sample("ZKCheckedEphemeral", b""))
    return Kind(name, pattern, releases, "directory", samples=samples, sensitivity="empty")
