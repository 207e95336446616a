"""Doing one step, through deltalake, as one commit at most. Only who writes the lake may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Transaction

from delta_tables import reading
from delta_tables.catalog import TABLE_BY_NAME
from delta_tables.table import Table
from streaming.maintenance.gathering import STEP_BYTES, gather
from streaming.maintenance.plan import MaintenanceStep
from streaming.maintenance.retention import SAMPLES, SAMPLES_MARK
from streaming.maintenance.survey import find_dead_log, find_log_directory

# A commit of ours may fall on the version at which a checkpoint is due; Spark would then make none.
_HOOKS = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
# One core stays for the batches of other clusters.
_TASKS = 1
_SPILL_BYTES = 512 << 20


def do(delta: DeltaTable, step: MaintenanceStep, keep_hours: int) -> str:
    """Do it; returns what came of it, in a few words."""
    table = TABLE_BY_NAME[step.table]
    if step.action == "settle":
        delta.alter.set_table_properties(
            dict(step.properties), post_commithook_properties=_HOOKS, raise_if_not_exists=False
        )
        return "set"
    if step.action == "trim":
        return _trim(delta, step)
    if step.action == "gather":
        values = {name: _write(value) for name, value in step.partition}
        return "{} files became {}".format(*gather(delta, table, values, _HOOKS))
    if step.action in ("sort", "merge"):
        return _rewrite(delta, table, step)
    if step.action == "vacuum":
        return _vacuum(delta, keep_hours)
    return _clean(delta, keep_hours)


def _trim(delta: DeltaTable, step: MaintenanceStep) -> str:
    properties = None
    where = step.where
    if step.mark is not None:
        mark, seq = step.mark
        properties = CommitProperties(app_transactions=[Transaction(mark, seq)])
        where += _keep_breaks(delta, step) if mark == SAMPLES_MARK else ""
    done = delta.delete(where, commit_properties=properties, post_commithook_properties=_HOOKS)
    return f"{done.get('num_deleted_rows', 'some')} rows deleted"


def _keep_breaks(delta: DeltaTable, step: MaintenanceStep) -> str:
    """A record right before a delete stays: it shows that no run of deletes goes on there.

    Whether a session ended is decided by an unbroken run (streaming/fold/sessions.py): a rebuild
    must see the same runs.
    """
    dates = " AND ".join(f"{name} = DATE '{value}'" for name, value in step.partition)
    sql = (
        "SELECT seq FROM (SELECT seq, op, kind, lead(op, 1, 'delete') OVER (ORDER BY seq) AS next "
        f"FROM znode_events WHERE {dates} AND op <> 'heartbeat') "
        f"WHERE next = 'delete' AND {SAMPLES}"
    )
    seqs = [row["seq"] for row in reading.query_rows({step.table: delta}, sql)]
    return f" AND seq NOT IN ({', '.join(map(str, seqs))})" if seqs else ""


def _rewrite(delta: DeltaTable, table: Table, step: MaintenanceStep) -> str:
    filters = [(name, "=", _write(value)) for name, value in step.partition]
    options: dict[str, Any] = {
        "partition_filters": filters or None,
        # One file, also where its rows take more room in another order.
        "target_size": 2 * STEP_BYTES,
        "max_concurrent_tasks": _TASKS,
        "max_spill_size": _SPILL_BYTES,
        "post_commithook_properties": _HOOKS,
    }
    if step.action == "sort":
        done = delta.optimize.z_order(_sort_columns(table), **options)
    else:
        done = delta.optimize.compact(**options)
    return f"{done['numFilesRemoved']} files became {done['numFilesAdded']}"


def _sort_columns(table: Table) -> Sequence[str]:
    """A lake has one cluster: its name sorts nothing."""
    return [name for name in table.key if name != "cluster"] or list(table.key)


def _write(value: object) -> str:
    """A partition's value as it stands in the log."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _vacuum(delta: DeltaTable, keep_hours: int) -> str:
    gone = delta.vacuum(keep_hours, dry_run=False, full=True, post_commithook_properties=_HOOKS)
    # Until a checkpoint leaves them out, the next vacuum would find the same files again.
    delta.update_incremental()
    delta.create_checkpoint()
    return f"{len(gone)} files removed"


def _clean(delta: DeltaTable, keep_hours: int) -> str:
    dead = find_dead_log(delta.table_uri, keep_hours)
    delta.cleanup_metadata()
    # deltalake leaves Delta's checksums behind.
    for path in dead:
        if path.suffix == ".crc":
            path.unlink(missing_ok=True)
    gone = [path for path in dead if not path.exists()]
    return f"{len(gone)} files removed" if find_log_directory(delta.table_uri) else "done"
