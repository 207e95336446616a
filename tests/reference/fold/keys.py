"""Which table an event belongs to, and the key of its row: from kind and path alone."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tests.reference.fold.cluster_payloads import CLUSTER_KINDS

Row = dict[str, Any]

_PATHS = {
    "broker": re.compile(r"/brokers/ids/(?P<broker_id>[0-9]+)"),
    "topic": re.compile(r"/brokers/topics/(?P<topic>[^/]+)"),
    "topic_broker": re.compile(r"/brokers/topics/(?P<topic>[^/]+)/(?P<broker_id>[0-9]+)"),
    "partition_state": re.compile(
        r"/brokers/topics/(?P<topic>[^/]+)/partitions/(?P<partition>[0-9]+)/state"
    ),
    "consumer": re.compile(r"/consumers/(?P<group_id>[^/]+)/ids/(?P<member_id>[^/]+)"),
    # 0.7 names the broker too: [broker]-[partition].
    **{
        kind: re.compile(
            rf"/consumers/(?P<group_id>[^/]+)/{kind}s/(?P<topic>[^/]+)"
            r"/(?:(?P<broker_id>[0-9]+)-)?(?P<partition>[0-9]+)"
        )
        for kind in ("owner", "offset")
    },
    **dict.fromkeys(CLUSTER_KINDS, re.compile(r"(?P<path>/.+)")),
}
_TABLES = {
    "broker": "broker_membership",
    "topic": "topics",
    "topic_broker": "topics",
    "partition_state": "partition_state",
    "consumer": "consumer_membership",
    "owner": "ownership_history",
    "offset": "consumer_offsets",
    **dict.fromkeys(CLUSTER_KINDS, "cluster_state"),
}
# The tables that are made of single znodes.
ZNODE_TABLES = frozenset(_TABLES.values())
_CONSTANTS: dict[str, Row] = {
    "topic": {"broker_id": None},
    "consumer": {"coordinator": "zookeeper"},
    "owner": {"coordinator": "zookeeper"},
    "offset": {"coordinator": "zookeeper"},
}
_NUMBERS = ("broker_id", "partition")
MAX_INT = 2**31 - 1


class Place(NamedTuple):
    """A row's table and key."""

    table: str
    key: Row

    @property
    def identity(self) -> tuple[Any, ...]:
        """The key as a dict can hold it; a missing broker_id is part of it."""
        return tuple(sorted(self.key.items()))


def place_of(kind: str | None, path: str | None) -> Place | None:
    """Where an event of an interval table stands; None: it makes no row anywhere."""
    if kind not in _PATHS or path is None:
        return None
    found = _PATHS[kind].fullmatch(path)
    if found is None:
        return None
    key: Row = {**_CONSTANTS.get(kind, {}), **found.groupdict()}
    for name in _NUMBERS:
        if key.get(name) is not None:
            digits = key[name].lstrip("0")
            if len(digits) > 10 or int(digits or "0") > MAX_INT:
                return None
            key[name] = int(digits or "0")
    return Place(_TABLES[kind], key)
