"""Every table there is, in the order in which a batch commits them: znode_events comes last."""

from __future__ import annotations

from delta_tables.table import Table
from delta_tables.tables.admin_operations import ADMIN_OPERATIONS
from delta_tables.tables.broker_membership import BROKER_MEMBERSHIP
from delta_tables.tables.cluster_state import CLUSTER_STATE
from delta_tables.tables.config_history import CONFIG_HISTORY
from delta_tables.tables.consumer_membership import CONSUMER_MEMBERSHIP
from delta_tables.tables.consumer_offsets import CONSUMER_OFFSETS
from delta_tables.tables.consumption_pauses import CONSUMPTION_PAUSES
from delta_tables.tables.controller import CONTROLLER
from delta_tables.tables.lag_rollups import LAG_ROLLUPS
from delta_tables.tables.log_ends import LOG_ENDS
from delta_tables.tables.log_gaps import LOG_GAPS
from delta_tables.tables.offset_lag import OFFSET_LAG
from delta_tables.tables.ownership_history import OWNERSHIP_HISTORY
from delta_tables.tables.partition_state import PARTITION_STATE
from delta_tables.tables.quarantine import QUARANTINE
from delta_tables.tables.rebalances import REBALANCES
from delta_tables.tables.topics import TOPICS
from delta_tables.tables.znode_events import ZNODE_EVENTS

# An input stands before the tables that read it as of an event's seq.
TABLES: tuple[Table, ...] = (
    QUARANTINE,
    LOG_GAPS,
    CONTROLLER,
    BROKER_MEMBERSHIP,
    TOPICS,
    PARTITION_STATE,
    CONSUMER_MEMBERSHIP,
    OWNERSHIP_HISTORY,
    CONSUMER_OFFSETS,
    ADMIN_OPERATIONS,
    CONFIG_HISTORY,
    CLUSTER_STATE,
    CONSUMPTION_PAUSES,
    OFFSET_LAG,
    LOG_ENDS,
    LAG_ROLLUPS,
    REBALANCES,
    ZNODE_EVENTS,
)

TABLE_BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
INTERVAL_TABLES: tuple[Table, ...] = tuple(t for t in TABLES if t.folded == "intervals")
STEP_TABLES: tuple[Table, ...] = tuple(t for t in TABLES if t.folded == "steps")
GROUP_TABLES: tuple[Table, ...] = tuple(t for t in TABLES if t.folded == "groups")
