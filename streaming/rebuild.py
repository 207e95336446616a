"""`zklake rebuild`: interval tables made anew from znode_events, in one commit each.

The same fold as the stream's, over the whole log in one turn. Records that an older zklake had to
set aside, because their version was newer than it could read, take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from delta_tables import reading
from delta_tables.catalog import INTERVAL_TABLES, TABLE_BY_NAME
from streaming.horizon import make_rows, recall_sessions
from streaming.kept import find_breaks, read_all
from streaming.lake import Lake
from streaming.machines.registry import Rules
from streaming.progress import read_progress
from streaming.summary import summarise, weigh
from streaming.table_writer import Mark
from streaming.turn import Memory, prepare
from zklake.errors import LakeError


def rebuild(
    lake: Lake,
    names: Sequence[str],
    topic: str,
    say: Callable[[str], None],
    rules: Rules | None = None,
) -> dict[str, int]:
    """Make these tables anew, up to the watermark; returns the number of rows of each."""
    progress = read_progress(lake.path, lake.cluster, topic)
    if progress.log_id is None:
        raise LakeError(
            f"the lake {lake.path}/{lake.cluster} holds no events yet: nothing to rebuild from"
        )
    _refuse_ahead(lake, names, progress.log_id, progress.seq)
    events = read_all(lake).localCheckpoint()
    summary = summarise(events, INTERVAL_TABLES)
    breaks = find_breaks(events)
    sessions = recall_sessions(lake.path, lake.cluster)
    memory = Memory(sessions={lake.cluster: sessions}, rules=rules or Rules())
    turn = prepare(memory, events, summary, final=True, breaks=breaks)
    taken = memory.find_crew(lake.cluster).take(idle=True)
    counts = {}
    for name in names:
        table = TABLE_BY_NAME[name]
        say(f"rebuilding {name}")
        rows = make_rows(lake, table, turn, summary, taken)
        counts[name] = rows.count()
        weight = weigh(counts[name], summary.data_bytes)
        lake.replace_all(table, rows, weight, Mark(progress.log_id, progress.seq))
    return counts


def _refuse_ahead(lake: Lake, names: Sequence[str], log_id: str, seq: int) -> None:
    """A table that a crash left ahead of znode_events would lose what only it knows."""
    for name in names:
        if reading.read_marker(lake.path, lake.cluster, name, log_id) > seq:
            raise LakeError(
                f"{name} is ahead of znode_events in {lake.path}/{lake.cluster}: a stream was cut "
                "off. Let `zklake stream --once` finish its batch, then rebuild"
            )


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """The tables to rebuild; none given means all that can be."""
    possible = tuple(t.name for t in TABLE_BY_NAME.values() if t.is_interval)
    for name in names:
        if name not in possible:
            raise LakeError(
                f"{name!r} cannot be rebuilt: it is no interval table. These can: "
                f"{', '.join(possible)}"
            )
    return tuple(names) or possible
