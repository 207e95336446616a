"""A lake as a stream would leave it after weeks: same tables, same log, made in seconds.

    lake = age_lake(path, "kafka", Size(), seed=1)

`zklake stream` can go on with it, and a rebuild from its events makes the very same rows: of the
tables that znodes make (things.py). The others (series.py) are made beside the log, so that there
is something to ask of; a rebuild would empty them.
"""

from __future__ import annotations

import os
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from bench.aged_lake.files import DataFile, Scratch
from bench.aged_lake.history import select_events, select_thing_rows
from bench.aged_lake.log import DeltaLog
from bench.aged_lake.series import list_series
from bench.aged_lake.things import list_things
from bench.aged_lake.world import SMALL, Size, World
from delta_tables import reading
from delta_tables.catalog import TABLES
from delta_tables.creation import create_table
from delta_tables.table import Table
from delta_tables.tables.znode_events import ZNODE_EVENTS

__all__ = ["SMALL", "Size", "World", "age_lake"]


def age_lake(
    path: str | Path, cluster: str, size: Size, *, seed: int = 1, last_day: date | None = None
) -> World:
    """Make the lake; equal arguments make equal rows."""
    world = World(cluster, seed, size, last_day or World.last_day)
    things = list_things(world)
    queries = {thing.table.name: select_thing_rows(world, thing) for thing in things}
    queries[ZNODE_EVENTS.name] = select_events(world, things)
    busy = [*(thing.table.name for thing in things if thing.lots), ZNODE_EVENTS.name]
    commits = dict.fromkeys(busy, size.commits)
    for series in list_series(world):
        queries[series.table.name] = series.select(world)
        commits[series.table.name] = series.count_commits(world)
    for table in TABLES:
        place = Path(reading.table_path(str(path), cluster, table.name))
        maker = _Maker(world, table, place, commits.get(table.name, 1))
        if table.name in queries:
            maker.fill(queries[table.name])
        maker.close()
    return world


class _Maker:
    """Makes one table."""

    def __init__(self, world: World, table: Table, place: Path, commits: int) -> None:
        self._world, self._table, self._root, self._commits = world, table, place, commits
        place.parent.mkdir(parents=True, exist_ok=True)
        self._delta = create_table(table, str(place))
        self._scratch = Scratch(table, place.with_name(f"_scratch_{table.name}"))
        # One commit more: all the days before the last.
        self._log = DeltaLog(self._delta, world.log_id, commits + 1)

    def close(self) -> None:
        self._scratch.close()

    def fill(self, sql: str) -> None:
        """All days but the last in one commit, the last in as many as were asked for."""
        world, last = self._world, self._world.size.days - 1
        is_open = "is_open" if self._table.is_interval else "false"
        open_file = next(self._scratch.write_few(sql, "0", is_open), None)
        opened = self._place_open(open_file) if open_file is not None else None
        closed = "NOT is_open" if self._table.is_interval else "true"
        adds = [
            {"add": self._place(file, file.chunk // world.size.files)}
            for file in self._scratch.write_few(
                sql, f"day * {world.size.files} + slice", f"{closed} AND day < {last}"
            )
        ]
        self._log.commit(adds, 0, None)
        news: dict[int, dict[str, Any]] = {}
        rows: dict[int, int] = {}
        if self._commits > 1:
            for file in self._scratch.write_many(sql, "commit", f"{closed} AND day = {last}"):
                news[file.chunk], rows[file.chunk] = self._place(file, last), file.rows
        for number in range(self._commits):
            self._commit(number, news.get(number), rows.get(number, 0), opened)

    def _commit(
        self, number: int, add: dict[str, Any] | None, rows: int, opened: dict[str, Any] | None
    ) -> None:
        actions = [{"add": add}] if add is not None else []
        if opened is not None:
            actions += self._replace_open(number, opened)
        seq = self._find_last_seq(number) if self._table.is_interval else None
        self._log.commit(actions, rows, seq)

    def _replace_open(self, number: int, opened: dict[str, Any]) -> list[dict[str, Any]]:
        """The open rows' file is written anew by every commit; the dead ones share one inode."""
        actions = [{"add": self._name_open(number, opened)}]
        if number > 0:
            dead = self._name_open(number - 1, opened)
            remove = {
                "path": dead["path"],
                "deletionTimestamp": self._log.at_ms,
                "dataChange": True,
                "extendedFileMetadata": True,
                "partitionValues": dead["partitionValues"],
                "size": dead["size"],
            }
            actions.append({"remove": remove})
        if number < self._commits - 1:
            alive = self._name_open(self._commits - 1, opened)
            os.link(self._dead_inode(alive), self._root / actions[0]["add"]["path"])
        return actions

    def _dead_inode(self, alive: dict[str, Any]) -> Path:
        first = self._root / f"{alive['path']}.dead"
        if not first.exists():
            shutil.copyfile(self._root / alive["path"], first)
            # Old: a vacuum spares what may be of a writer under way.
            os.utime(first, (0, 0))
        return first

    def _name_open(self, number: int, opened: dict[str, Any]) -> dict[str, Any]:
        if number == self._commits - 1:
            return opened
        return {**opened, "path": opened["path"].replace("part-", f"part-{number:05}-", 1)}

    def _place_open(self, file: DataFile) -> dict[str, Any]:
        return self._scratch.place(file, self._root, {"is_open": "true", "closed_on": None})

    def _place(self, file: DataFile, day: int) -> dict[str, Any]:
        on = str(self._world.last_day - timedelta(days=self._world.size.days - 1 - day))
        values = {"is_open": "false", "closed_on": on} if self._table.is_interval else {}
        return self._scratch.place(file, self._root, values or {"observed_on": on})

    def _find_last_seq(self, number: int) -> int:
        """Of the records that came in a commit of the last day."""
        if self._commits == 1:
            return self._world.last_seq
        slots = self._world.size.day_slots
        last_slot = ((number + 1) * slots - 1) // self._commits
        return self._world.last_seq - slots + 1 + last_slot
