"""The tables of one lake in one snapshot, and questions to them, answered once per version.

It knows no page. A table that nobody has written yet has no version and no rows.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from typing import Any, Self, TypeVar

from delta_tables.asking.cancellation import Cancellation
from delta_tables.live.cache import Cache
from delta_tables.live.opener import Opener
from delta_tables.live.snapshot import NAMES, Asking, Row, Snapshot, SnapshotGone, Source, State
from delta_tables.views import VIEWS
from zklake.errors import LakeError, QueryCancelled, QueryError

__all__ = ["NAMES", "Row", "Tables"]

T = TypeVar("T")

_INPUTS = {view.name: view.inputs for view in VIEWS}
_ANSWER_BYTES = 128 << 20


class Tables:
    """Every table of a lake, followed by looks; `bind` holds still what the last one saw."""

    def __init__(
        self,
        lake: str,
        cluster: str,
        *,
        look_every_s: float = 0.5,
        source: Source | None = None,
        cache_bytes: int = _ANSWER_BYTES,
    ) -> None:
        self.lake, self.cluster = lake, cluster
        self._source = source or Opener(lake, cluster)
        self._look_every_s = look_every_s
        self._looked_at = float("-inf")
        self._lock = threading.Lock()
        # Replaced as a whole, never changed: who reads it needs no lock.
        self._snapshot = Snapshot()
        self.cache = Cache(cache_bytes)
        self._cancellation = Cancellation()
        self._is_bound = False
        self._only: dict[str, str] = {}

    def bind(self, cancellation: Cancellation) -> Self:
        """The same in the versions of now, for somebody who may leave: then nothing more is asked.

        All its answers are of these versions, whatever is committed meanwhile; SnapshotGone when
        one of them was cleaned away.
        """
        bound = copy.copy(self)
        bound._cancellation, bound._is_bound = cancellation, True
        return bound

    def narrow(self, only: Mapping[str, str]) -> Self:
        """The same where some tables have only the rows that meet a condition, given by table.

        They are read once, whatever is asked of them: for several queries over few rows.
        """
        narrowed = copy.copy(self)
        narrowed._only = {**self._only, **only}
        return narrowed

    def look(self, *, anew: bool = False) -> dict[str, int]:
        """The version of every table there is; asks the lake if the last look is a while ago."""
        assert not self._is_bound, "what is bound stays as it is"
        with self._lock:
            if anew or time.monotonic() - self._looked_at >= self._look_every_s:
                self._snapshot = self._source.look(anew=anew)
                self._looked_at = time.monotonic()
        return self.versions

    def read(self, make: Callable[[Self], T], cancellation: Cancellation | None = None) -> T:
        """What `make` makes of one snapshot, the newest; once again of the next if it is gone."""
        for anew in (False, True):
            self.look(anew=anew)
            try:
                return make(self.bind(cancellation or Cancellation()))
            except SnapshotGone as error:
                gone = error
        raise LakeError(f"the lake cannot answer: {gone}")

    @property
    def versions(self) -> dict[str, int]:
        """Of every table there is."""
        return {name: state.version for name, state in self._snapshot.tables.items()}

    @property
    def event_span(self) -> tuple[datetime, datetime] | None:
        """When the first and the last event was; None: there is none."""
        first_ms, last_ms = self._snapshot.first_ms, self._snapshot.last_ms
        if first_ms is None or last_ms is None:
            return None
        return _read_ms(first_ms), _read_ms(last_ms)

    def has(self, *names: str) -> bool:
        """Whether all of these were written already."""
        return all(one in self._snapshot.tables for one in _list_inputs(names))

    def derive(self, key: Hashable, names: tuple[str, ...], make: Callable[[], T]) -> T:
        """What `make` makes of these tables; made anew when one of them has another version."""
        if only := self._choose_only(_list_inputs(names)):
            key = (key, *sorted(only.items()))
        while True:
            self._check_wanted()
            try:
                return self.cache.get(key, make, self.list_states(*names))
            except QueryCancelled:
                # Who asked the same before us has left: now it is ours to ask.
                self._check_wanted()

    def _check_wanted(self) -> None:
        if self._cancellation.is_cancelled:
            raise QueryCancelled("nobody waits for the answer any more")

    def list_states(self, *names: str) -> tuple[tuple[str, State], ...]:
        """Which table each of these is, in which version; of a view, those of its inputs."""
        known = self._snapshot.tables
        return tuple((name, known[name]) for name in _list_inputs(names) if name in known)

    def query(self, sql: str, *names: str) -> list[Row]:
        """Rows of a query of our own over these tables and views; none when one is missing."""
        return self.derive(sql, names, lambda: self.ask(sql, *names))

    def ask(self, sql: str, *names: str) -> list[Row]:
        """The same, not kept: for many rows of which somebody keeps something else."""
        self._check_wanted()
        inputs = _list_inputs(names)
        try:
            return self._run(sql, inputs)
        except SnapshotGone:
            # Cleaned away under a table that was opened long ago.
            if self._is_bound:
                raise
        self.look(anew=True)
        try:
            return self._run(sql, inputs)
        except SnapshotGone as error:
            raise LakeError(f"the lake cannot answer: {error}") from error

    def _run(self, sql: str, names: tuple[str, ...]) -> list[Row]:
        known = self._snapshot.tables
        if not all(name in known for name in names):
            return []
        asking = Asking(sql, {name: known[name] for name in names}, self._choose_only(names))
        try:
            return self._source.ask(asking, self._cancellation)
        except QueryCancelled:
            raise
        except QueryError as error:
            raise LakeError(f"the lake cannot answer: {error}") from error

    def _choose_only(self, names: tuple[str, ...]) -> dict[str, str]:
        return {name: condition for name, condition in self._only.items() if name in names}

    def list_files(self, name: str) -> dict[str, list[Any]] | None:
        """What Delta's log says of a table's files, by column; None: there is no such table."""
        state = self._snapshot.tables.get(name)
        return None if state is None else self._source.list_files(name, state)


def _list_inputs(names: tuple[str, ...]) -> tuple[str, ...]:
    """The tables that these tables and views need, each once."""
    return tuple(dict.fromkeys(one for name in names for one in _INPUTS.get(name, (name,))))


def _read_ms(value: int) -> datetime:
    return datetime.fromtimestamp(value / 1000, UTC)
