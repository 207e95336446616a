"""What somebody looks for by a text: a topic's partition, a broker, or a part of any name."""

from __future__ import annotations

import re
from typing import NamedTuple

from delta_tables.live.tables import Tables
from delta_tables.reading import quote
from delta_tables.table import Table

_PARTITION = re.compile(r"(.+)-(\d{1,9})", re.DOTALL)
_BROKER = re.compile(r"(?:broker[ -]?)?(\d{1,9})", re.IGNORECASE)
# Columns that hold a name to look for, and a broker's number.
_NAMES = ("topic", "group_id", "member_id", "owner", "entity_name")
_BROKERS = ("broker_id", "controller_id", "leader")


class MomentSearch(NamedTuple):
    """The text, and the partition or the broker that it names, if the lake knows one."""

    text: str
    topic: str | None = None
    partition: int | None = None
    broker_id: int | None = None


def read_wanted(tables: Tables, text: str) -> MomentSearch:
    """`orders-3` is a partition where there is such a topic, `broker 2` and `2` are a broker."""
    text = text.strip()
    if found := _PARTITION.fullmatch(text):
        sql = f"SELECT 1 AS known FROM topics WHERE topic = {quote(found[1])} LIMIT 1"  # noqa: S608
        if tables.query(sql, "topics"):
            return MomentSearch(text, found[1], int(found[2]))
    if found := _BROKER.fullmatch(text):
        sql = f"SELECT 1 AS known FROM broker_membership WHERE broker_id = {found[1]} LIMIT 1"  # noqa: S608
        if tables.query(sql, "broker_membership"):
            return MomentSearch(text, broker_id=int(found[1]))
    return MomentSearch(text)


def write_wanted(wanted: MomentSearch, table: Table) -> str:
    """SQL: whether a row of that table is meant; nothing when all are."""
    names = table.names
    if wanted.topic is not None and "topic" in names:
        same = f"topic = {quote(wanted.topic)}"
        return f"{same} AND partition = {wanted.partition}" if "partition" in names else same
    if wanted.broker_id is not None:
        if "group_id" in names:
            return ""  # a broker of 0.7 in the path of an offset is another thing
        said = [f"{name} = {wanted.broker_id}" for name in _BROKERS if name in names]
        said += [f"array_has(isr, {wanted.broker_id})"] if "isr" in names else []
        return " OR ".join(said)
    if not wanted.text or wanted.topic is not None:
        return ""
    text = quote(wanted.text)
    return " OR ".join(
        f"strpos(lower({name}), lower({text})) > 0" for name in _NAMES if name in names
    )
