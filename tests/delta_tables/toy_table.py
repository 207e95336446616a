"""toys: a table that nobody needs, in one file, as the recipe in CONTRIBUTING.md has it.

test_recipe.py puts it into a copy of the product as delta_tables/tables/toys.py.
"""

from __future__ import annotations

from delta_tables.intervals import CLUSTER, INTERVAL_COLUMNS, PARTITION_BY
from delta_tables.observation import of_path, of_payload
from delta_tables.table import PERSISTENT_ENDS, Column, Table

TOYS = Table(
    name="toys",
    grain="One row per state of one toy (/toys/[toy]).",
    folded="intervals",
    kinds=("toy",),
    columns=(
        CLUSTER,
        Column("toy", "STRING", "name of the toy", of_path(2), required=True),
        Column("wheels", "INT", "how many wheels it has", of_payload("wheels")),
        *INTERVAL_COLUMNS,
    ),
    key=("cluster", "toy"),
    ends=PERSISTENT_ENDS,
    partition_by=PARTITION_BY,
    properties={"delta.checkpointInterval": "9973"},
)
