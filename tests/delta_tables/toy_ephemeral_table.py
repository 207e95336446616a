"""players: a table of ephemerals that nobody needs, as the recipe in CONTRIBUTING.md has it.

test_recipe.py puts it into a copy of the product as delta_tables/tables/players.py.
"""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY, SESSION
from delta_tables.observation import of_path
from delta_tables.table import ZNODE_ENDS, Column, Table

PLAYERS = Table(
    name="players",
    grain="One row per state of one player (/players/[player]).",
    folded="intervals",
    kinds=("player",),
    columns=(
        CLUSTER,
        Column("player", "STRING", "name of the player", of_path(2), required=True),
        SESSION,
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "player"),
    ends=ZNODE_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "9967"},
)
