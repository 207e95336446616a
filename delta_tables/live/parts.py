"""Parts of tables that several queries ask for: read from files once, and kept in memory.

A part is the rows of one version of a table that meet a condition. Reading them costs more than
what a page then asks of them. They are bounded in bytes; a part of too many rows is not kept.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

import pyarrow as pa
from deltalake import QueryBuilder

from delta_tables import reading
from delta_tables.live.cache import Cache
from delta_tables.live.snapshot import Asking, State

_MOST_ROWS = 50_000
_MOST_BYTES = 64 << 20
# How long a part of too many rows is not tried again, and how many such are remembered.
_TOO_LARGE_S, _REMEMBERED = 600.0, 1000
# Adds a table in a version to an engine, with a condition or all of it.
AddTable = Callable[[QueryBuilder, str, State, str | None], None]


class _Part:
    """Rows in the engine's memory, under a name of their own, until nobody refers to it."""

    def __init__(self, engine: QueryBuilder, name: str, size: int) -> None:
        self.name, self.nbytes = name, size
        weakref.finalize(self, engine.execute, f"DROP TABLE {name}").atexit = False


class Parts:
    """One engine that holds the parts; any number of threads may ask."""

    def __init__(
        self,
        settings: Mapping[str, str],
        memory_bytes: int | None,
        add: AddTable,
        *,
        most_rows: int = _MOST_ROWS,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        self._engine = reading.start_engine(settings)
        if memory_bytes is not None:
            reading.bound_memory(self._engine, memory_bytes)
        self._add, self._most_rows = add, most_rows
        self._kept = Cache(most_bytes)
        self._numbers = count()
        self._too_large: dict[tuple[str, str], float] = {}
        # Held while the names of a query mean its tables, until it is planned.
        self._naming = threading.Lock()

    @property
    def used_bytes(self) -> int:
        """What the parts take."""
        return self._kept.used_bytes

    def plan(self, asking: Asking) -> Any:
        """The batches of a query, each read when it is asked for."""
        parts = {
            name: self._get(name, asking.tables[name], condition)
            for name, condition in asking.only.items()
            if name in asking.tables
        }
        with self._open_schema() as schema, self._naming_in(schema):
            for name, state in asking.tables.items():
                if (part := parts.get(name)) is None:
                    self._add(self._engine, name, state, asking.only.get(name))
                else:
                    self._engine.execute(f"CREATE VIEW {name} AS SELECT * FROM {part.name}")  # noqa: S608
            return self._engine.execute(reading.inline_views(asking.tables, asking.sql))

    @contextmanager
    def _open_schema(self) -> Iterator[str]:
        """A place for names; what is planned needs them no more."""
        schema = f"names_{next(self._numbers)}"
        self._engine.execute(f"CREATE SCHEMA {schema}")
        try:
            yield schema
        finally:
            self._engine.execute(f"DROP SCHEMA {schema} CASCADE")

    @contextmanager
    def _naming_in(self, schema: str) -> Iterator[None]:
        with self._naming:
            self._engine.execute(f"SET datafusion.catalog.default_schema = '{schema}'")
            yield

    def _get(self, name: str, state: State, condition: str) -> _Part | None:
        """The rows; None: they are too many."""
        key = (name, condition)
        if time.monotonic() < self._too_large.get(key, 0):
            return None
        part = self._kept.get(key, lambda: self._read(name, state, condition), state)
        if part is None:
            if len(self._too_large) >= _REMEMBERED:
                self._too_large.clear()
            self._too_large[key] = time.monotonic() + _TOO_LARGE_S
        return part

    def _read(self, name: str, state: State, condition: str) -> _Part | None:
        part = f"public.part_{next(self._numbers)}"
        with self._open_schema() as schema:
            with self._naming_in(schema):
                self._add(self._engine, name, state, condition)
            # If there is one more than may be, there are too many.
            rows = f"SELECT * FROM {schema}.{name} LIMIT {self._most_rows + 1}"  # noqa: S608
            self._engine.execute(f"CREATE TABLE {part} AS {rows}")
        # Not copied: only looked at.
        held = pa.RecordBatchReader.from_stream(self._engine.execute(f"SELECT * FROM {part}"))  # noqa: S608
        batches = list(held)
        kept = _Part(self._engine, part, sum(one.get_total_buffer_size() for one in batches))
        return None if sum(one.num_rows for one in batches) > self._most_rows else kept
