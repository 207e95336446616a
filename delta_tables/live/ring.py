"""The last versions of one table, each held open in an object of its own.

Taking in a commit is cheap and changes the object; opening a table is not. So the oldest object is
brought up to date, and those that somebody may still ask stay as they are.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from delta_tables import reading
from delta_tables.asking.lakes import is_remote
from delta_tables.live.snapshot import SnapshotGone, State
from zklake.errors import LakeError

_HELD = 3


class Opened(NamedTuple):
    """A table in one version."""

    table: DeltaTable
    state: State


class Ring:
    """One table of a lake. Not for several threads at once."""

    def __init__(self, lake: str, cluster: str, name: str) -> None:
        self._place = (lake, cluster, name)
        self._path = reading.table_path(lake, cluster, name)
        self._log = Path(self._path) / "_delta_log"
        # Another directory of the same name is another table.
        self._inode: int | None = None
        # Oldest first.
        self._held: list[Opened] = []

    @property
    def newest(self) -> Opened | None:
        """As the last look found it; None: nobody has written it yet."""
        return self._held[-1] if self._held else None

    def look(self, *, anew: bool = False) -> Opened | None:
        """The table as it is now."""
        inode = _find_inode(self._log)
        if anew or inode != self._inode:
            self._held, self._inode = [], inode
        newest = self.newest
        if newest is None or is_remote(self._path) or self._has_news(newest.state.version):
            self._take(self._follow() or self._open())
        return self.newest

    def _take(self, found: Opened | None) -> None:
        newest = self.newest
        if found is None:
            self._held = []
        elif newest is not None and newest.state == found.state:
            self._held.insert(0, found)
        else:
            self._held.append(found)
        self._held = self._held[-_HELD:]

    def _follow(self) -> Opened | None:
        """The oldest with the commits since then; None when they cannot be taken in."""
        if len(self._held) < _HELD:
            return None
        self._held.sort(key=lambda opened: opened.state.version)
        table = self._held.pop(0).table
        try:
            table.update_incremental()
        except DeltaError:
            return None
        return _name_state(table)

    def _open(self) -> Opened | None:
        try:
            table = reading.open_table(*self._place)
        except LakeError:
            return None  # half written: the next look finds it whole
        return None if table is None else _name_state(table)

    def _has_news(self, version: int) -> bool:
        """A later commit; maintenance may have cleaned away the next one, and this one, too."""
        commits = [self._log / f"{number:020}.json" for number in (version, version + 1)]
        return commits[1].exists() or not commits[0].exists()

    def find(self, state: State) -> Opened:
        """The table in that version; SnapshotGone when the log does not reach back to it."""
        for opened in self._held:
            if opened.state == state:
                return opened
        try:
            past = _name_state(DeltaTable(self._path, version=state.version))
        except (DeltaError, OverflowError) as error:
            raise SnapshotGone(f"{self._path} has no version {state.version} any more") from error
        if past.state != state:
            raise SnapshotGone(f"{self._path} was made anew")
        # It is likely to be asked for again; the newest stays the last.
        self._held.insert(max(0, len(self._held) - 1), past)
        return past


def _name_state(table: DeltaTable) -> Opened:
    return Opened(table, State(str(table.metadata().id), table.version()))


def _find_inode(log: Path) -> int | None:
    try:
        return os.stat(log).st_ino
    except OSError:
        return None
