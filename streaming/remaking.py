"""Tables made anew after their events have changed, also by a later run if this one is cut off.

Whoever changes znode_events leaves a mark in the same commit; another one says for which mark the
tables were made.
"""

from __future__ import annotations

from collections.abc import Callable

from delta_tables import reading
from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.fold.rules import Rules
from streaming.lake.lake import Lake
from streaming.lake.writer import Mark
from streaming.rebuild import Tasks, check_names, rebuild
from zklake.events.topics import name_topics

# Up to which zxid the past is there, and how often values were put into events.
ADDED_MARK = "zklake.backfill"
HEALED_MARK = "zklake.healed"
_MARKS = (ADDED_MARK, HEALED_MARK)


def read_mark(lake: Lake, name: str) -> int:
    """A mark of znode_events; -1: it has none."""
    return reading.read_marker(lake.path, lake.cluster, ZNODE_EVENTS.name, name)


def is_made(lake: Lake) -> bool:
    """Whether the tables are made of the events as they are."""
    return all(read_mark(lake, name) == read_mark(lake, _name_made(name)) for name in _MARKS)


def remake_tables(
    lake: Lake, say: Callable[[str], None], rules: Rules, tasks: Tasks | None
) -> dict[str, int]:
    """Make them anew; the number of rows by table."""
    topic = name_topics(lake.cluster).events
    counts = rebuild(lake, check_names(()), topic, say, rules=rules, tasks=tasks)
    for name in _MARKS:
        if (mark := read_mark(lake, name)) != read_mark(lake, _name_made(name)):
            lake.find_writer(ZNODE_EVENTS).append_files([], Mark(_name_made(name), mark))
    return counts


def _name_made(mark: str) -> str:
    return f"{mark}.folded"
