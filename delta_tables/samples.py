"""How rows are made of samples: what brokers say of Kafka-stored groups, beside ZooKeeper's own.

Plain text: SQL over an event (see zklake.events.samples) and over one `item` of it. No Spark here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# The coordinator of every row that is made of samples.
KAFKA = "kafka"


@dataclass(frozen=True)
class Samples:
    """One kind of sample, each item of which tells the state of one key."""

    op: str
    # SQL over an event: the array of items; of a key that stands there twice the first counts.
    items: str
    # SQL over item and event, by column; what is not named is null.
    columns: Mapping[str, str]
    # The columns that make it another state: told anew with equal ones, it is only seen.
    state: tuple[str, ...]
    # SQL: since when it is so, epoch ms.
    at_ms: str
    # SQL over an item: it tells that the key's state ends.
    is_end: str = "false"
    # SQL over an event: how the rows of its group end that it does not name. None: they stand.
    ends_unnamed: str | None = None


# A group_state names all members of its group, unless they did not fit the record.
GROUP_AT_MS = "coalesce(group_state.at_ms, observed_at_ms)"
GROUP_MEMBERS = "IF(coalesce(group_state.tombstone, false), NULL, group_state.members)"
GROUP_ENDS = """IF(group_state.members IS NULL AND NOT coalesce(group_state.tombstone, false)
    AND coalesce(group_state.state <> 'Empty', true), 'unreadable', 'deleted')"""
