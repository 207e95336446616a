"""The tables of one lake as they are now, and questions to them, answered once per version.

It knows no page. A table that nobody has written yet has no version and no rows.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from dashboard.cache import Cache
from delta_tables import reading
from delta_tables.catalog import TABLES
from delta_tables.lakes import is_remote
from delta_tables.views import VIEWS
from zklake.errors import LakeError, QueryError

T = TypeVar("T")
Row = dict[str, Any]

NAMES = tuple(table.name for table in TABLES)
_INPUTS = {view.name: view.inputs for view in VIEWS}
_ANSWERS = 400
# How DataFusion says that a file is missing.
_GONE = "not found: no such file"


class _Opened(NamedTuple):
    table: DeltaTable
    # Born with the table: one that was made anew counts its versions anew.
    id: str
    version: int
    # Another directory of the same name is another table.
    inode: int | None


class Tables:
    """Every table of a lake, opened when it appears and followed from then on."""

    def __init__(self, lake: str, cluster: str, *, look_every_s: float = 0.5) -> None:
        self.lake, self.cluster = lake, cluster
        self._look_every_s = look_every_s
        self._looked_at = float("-inf")
        self._lock = threading.Lock()
        self._opened: dict[str, _Opened] = {}
        self._cache = Cache(_ANSWERS)

    def look(self, *, anew: bool = False) -> dict[str, int]:
        """The version of every table there is; asks the lake if the last look is a while ago."""
        with self._lock:
            if anew or time.monotonic() - self._looked_at >= self._look_every_s:
                for name in NAMES:
                    self._look_at(name, anew=anew)
                self._looked_at = time.monotonic()
            return {name: opened.version for name, opened in self._opened.items()}

    def _look_at(self, name: str, *, anew: bool) -> None:
        log = Path(reading.table_path(self.lake, self.cluster, name)) / "_delta_log"
        inode = _find_inode(log)
        known = self._opened.get(name)
        is_same = known is not None and known.inode == inode and not anew
        if known is not None and is_same and self._follow(name, known, log):
            return
        table = _open(self.lake, self.cluster, name)
        if table is None:
            self._opened.pop(name, None)
        else:
            self._opened[name] = _Opened(table, str(table.metadata().id), table.version(), inode)

    def _follow(self, name: str, known: _Opened, log: Path) -> bool:
        """Take in the commits since the last look; whether that worked."""
        if is_remote(self.lake) or (log / f"{known.version + 1:020}.json").exists():
            try:
                known.table.update_incremental()
            except DeltaError:
                return False
            self._opened[name] = known._replace(version=known.table.version())
        return True

    def get(self, name: str) -> DeltaTable | None:
        """One table, if it is there."""
        opened = self._opened.get(name)
        return None if opened is None else opened.table

    def has(self, *names: str) -> bool:
        """Whether all of these were written already."""
        return all(one in self._opened for name in names for one in _INPUTS.get(name, (name,)))

    def derive(self, key: Hashable, names: tuple[str, ...], make: Callable[[], T]) -> T:
        """What `make` makes of these tables; made anew when one of them has another version."""
        return self._cache.get(key, make, self.list_states(*names))

    def list_states(self, *names: str) -> tuple[tuple[str, str, int], ...]:
        """Which table each of these is, in which version; of a view, those of its inputs."""
        inputs = dict.fromkeys(one for name in names for one in _INPUTS.get(name, (name,)))
        opened = [(name, self._opened[name]) for name in inputs if name in self._opened]
        return tuple((name, one.id, one.version) for name, one in opened)

    def query(self, sql: str, *names: str) -> list[Row]:
        """Rows of a query of our own over these tables and views; none when one is missing."""
        inputs = tuple(one for name in names for one in _INPUTS.get(name, (name,)))
        return self.derive(sql, inputs, lambda: self.ask(sql, *names))

    def ask(self, sql: str, *names: str) -> list[Row]:
        """The same, not kept: for many rows of which somebody keeps something else."""
        if not self.has(*names):
            return []
        return self._ask(sql, tuple(one for name in names for one in _INPUTS.get(name, (name,))))

    def _ask(self, sql: str, names: tuple[str, ...]) -> list[Row]:
        try:
            return self._run(sql, names)
        except QueryError as error:
            if _GONE not in str(error).lower():
                raise LakeError(f"the lake cannot answer: {error}") from error
        # Cleaned away under a table that was opened long ago.
        self.look(anew=True)
        try:
            return self._run(sql, names) if self.has(*names) else []
        except QueryError as error:
            raise LakeError(f"the lake cannot answer: {error}") from error

    def _run(self, sql: str, names: tuple[str, ...]) -> list[Row]:
        return reading.query_rows({name: self._opened[name].table for name in names}, sql)


def _open(lake: str, cluster: str, name: str) -> DeltaTable | None:
    try:
        return reading.open_table(lake, cluster, name)
    except LakeError:
        return None  # half written: the next look finds it whole


def _find_inode(log: Path) -> int | None:
    try:
        return os.stat(log).st_ino
    except OSError:
        return None
