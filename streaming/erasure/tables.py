"""One Delta table without the values: live files written anew, everything older removed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow.fs
from deltalake import DeltaTable

from delta_tables.table import Table
from streaming.erasure.rows import find_rows, mask_rows
from streaming.erasure.secret_values import SecretValues
from streaming.lake.rewriting import list_files, open_directory, rewrite

_VERSION = re.compile(r"(\d{20})\.")


def count_rows(delta: DeltaTable, table: Table, secrets: SecretValues) -> int:
    """How many rows of the table as it is now hold one of the values."""
    files, root = open_directory(delta.table_uri)
    return sum(len(find_rows(file.read(files, root), secrets)) for file in list_files(delta, table))


def mask_table(
    delta: DeltaTable, table: Table, secrets: SecretValues, announce: Callable[[], None]
) -> int:
    """Mask them, in one commit that is announced before; returns how many rows held one."""
    return rewrite(
        delta, table, lambda rows: mask_rows(rows, table.name, secrets), announce=announce
    )


def forget_past(delta: DeltaTable) -> int:
    """Remove every file and every version but the newest; returns how many files went."""
    gone = delta.vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    delta.update_incremental()
    delta.create_checkpoint()
    files, root = open_directory(delta.table_uri)
    log = pyarrow.fs.FileSelector(f"{root}/_delta_log", recursive=True)
    removed, last = len(gone), delta.version()
    for info in files.get_file_info(log):
        found = _VERSION.match(info.base_name)
        # The newest commit is ours, and the checkpoint holds all that it builds on.
        if found is not None and int(found[1]) < last:
            files.delete_file(info.path)
            removed += 1
    return removed
