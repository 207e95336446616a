"""The tables of one lake as they are now, and questions to them, answered once per version.

It knows no page. A table that nobody has written yet has no version and no rows.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from delta_tables import reading
from delta_tables.asking.lakes import is_remote
from delta_tables.catalog import TABLES
from delta_tables.live.cache import Cache
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
        # Replaced as a whole, never changed: who reads it needs no lock.
        self._opened: Mapping[str, _Opened] = {}
        self._cache = Cache(_ANSWERS)

    def look(self, *, anew: bool = False) -> dict[str, int]:
        """The version of every table there is; asks the lake if the last look is a while ago."""
        with self._lock:
            if anew or time.monotonic() - self._looked_at >= self._look_every_s:
                found = {name: self._look_at(name, anew=anew) for name in NAMES}
                self._opened = {name: opened for name, opened in found.items() if opened}
                self._looked_at = time.monotonic()
            return {name: opened.version for name, opened in self._opened.items()}

    def _look_at(self, name: str, *, anew: bool) -> _Opened | None:
        log = Path(reading.table_path(self.lake, self.cluster, name)) / "_delta_log"
        inode = _find_inode(log)
        known = self._opened.get(name)
        if known is not None and known.inode == inode and not anew:
            followed = self._follow(known, log)
            if followed is not None:
                return followed
        table = _open(self.lake, self.cluster, name)
        if table is None:
            return None
        return _Opened(table, str(table.metadata().id), table.version(), inode)

    def _follow(self, known: _Opened, log: Path) -> _Opened | None:
        """With the commits since the last look; None when they cannot be taken in."""
        if not is_remote(self.lake) and not _has_news(log, known.version):
            return known
        try:
            known.table.update_incremental()
        except DeltaError:
            return None
        return known._replace(version=known.table.version())

    def get(self, name: str) -> DeltaTable | None:
        """One table, if it is there."""
        opened = self._opened.get(name)
        return None if opened is None else opened.table

    def has(self, *names: str) -> bool:
        """Whether all of these were written already."""
        return all(one in self._opened for one in _list_inputs(names))

    def derive(self, key: Hashable, names: tuple[str, ...], make: Callable[[], T]) -> T:
        """What `make` makes of these tables; made anew when one of them has another version."""
        return self._cache.get(key, make, self.list_states(*names))

    def list_states(self, *names: str) -> tuple[tuple[str, str, int], ...]:
        """Which table each of these is, in which version; of a view, those of its inputs."""
        opened = self._opened
        known = [(name, opened[name]) for name in _list_inputs(names) if name in opened]
        return tuple((name, one.id, one.version) for name, one in known)

    def query(self, sql: str, *names: str) -> list[Row]:
        """Rows of a query of our own over these tables and views; none when one is missing."""
        return self.derive(sql, names, lambda: self.ask(sql, *names))

    def ask(self, sql: str, *names: str) -> list[Row]:
        """The same, not kept: for many rows of which somebody keeps something else."""
        inputs = _list_inputs(names)
        try:
            return self._run(sql, inputs)
        except QueryError as error:
            if _GONE not in str(error).lower():
                raise LakeError(f"the lake cannot answer: {error}") from error
        # Cleaned away under a table that was opened long ago.
        self.look(anew=True)
        try:
            return self._run(sql, inputs)
        except QueryError as error:
            raise LakeError(f"the lake cannot answer: {error}") from error

    def _run(self, sql: str, names: tuple[str, ...]) -> list[Row]:
        opened = self._opened
        if not all(name in opened for name in names):
            return []
        return reading.query_rows({name: opened[name].table for name in names}, sql)


def _list_inputs(names: tuple[str, ...]) -> tuple[str, ...]:
    """The tables that these tables and views need, each once."""
    return tuple(dict.fromkeys(one for name in names for one in _INPUTS.get(name, (name,))))


def _has_news(log: Path, version: int) -> bool:
    """Whether there is a later commit; maintenance may have cleaned away the next one as well."""
    return _find_commit(log, version + 1).exists() or not _find_commit(log, version).exists()


def _find_commit(log: Path, version: int) -> Path:
    return log / f"{version:020}.json"


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
