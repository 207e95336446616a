"""Every table there is, in the order in which a batch commits them: znode_events comes last."""

from __future__ import annotations

from delta_tables.table import Table
from delta_tables.tables.broker_membership import BROKER_MEMBERSHIP
from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.znode_events import ZNODE_EVENTS

TABLES: tuple[Table, ...] = (QUARANTINE, BROKER_MEMBERSHIP, ZNODE_EVENTS)

INTERVAL_TABLES: tuple[Table, ...] = tuple(table for table in TABLES if table.is_interval)
