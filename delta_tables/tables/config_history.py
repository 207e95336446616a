"""config_history: what each override of a topic, client, user, broker or ip said, and since when.

The znode holds the FULL set of overrides; rows are made by comparing it with the one before.
"""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, LIFE_COLUMNS, PARTITION_BY, VALIDITY_COLUMNS
from delta_tables.table import Column, Table

CONFIG_HISTORY = Table(
    name="config_history",
    grain="One row per value of one config key of one entity (/config/[entity_type]/[entity]).",
    folded="steps",
    kinds=(
        "topic_config",
        "client_config",
        "user_config",
        "user_client_config",
        "broker_config",
        "ip_config",
    ),
    columns=(
        CLUSTER,
        Column("entity_type", "STRING", "topics, clients, users, brokers or ips", required=True),
        Column(
            "entity_name",
            "STRING",
            "name of the topic, client id, user, broker id or ip, decoded; or <default>",
            required=True,
        ),
        Column(
            "client_id",
            "STRING",
            "only for the quotas of one user on one client id: that client id",
        ),
        Column(
            "config_key",
            "STRING",
            "name of the override; null: what the entity overrides could not be read",
        ),
        Column("value", "STRING", "the value; null where it is withheld or not known"),
        Column(
            "is_redacted",
            "BOOLEAN",
            "whether the value is a secret, and withheld by the watcher",
            required=True,
        ),
        Column(
            "data_hash",
            "STRING",
            "where withheld: keyed hash of all the overrides together; another hash: this one, or "
            "another one of the entity, changed",
        ),
        *LIFE_COLUMNS,
        *VALIDITY_COLUMNS,
    ),
    key=("cluster", "entity_type", "entity_name", "client_id", "config_key"),
    ends=("changed", "removed", "deleted", "recreated", "unreadable", "resync"),
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "157"},
)
