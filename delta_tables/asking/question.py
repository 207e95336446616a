"""A question on its way to the process that answers it, and the bounds it runs in."""

from __future__ import annotations

import msgspec

from delta_tables.asking.lakes import Lake


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one question may take."""

    timeout_s: float = 60
    max_rows: int = 100_000
    memory_bytes: int = 1 << 30


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A query that nobody has read yet, and where the tables lie that it may name.

    `condition`: a part of the query that must be one condition when it is read alone.
    `only`: by table, a condition; rows that do not meet it cannot matter to the answer.
    """

    lakes: list[Lake]
    sql: str
    limits: Limits
    condition: str = ""
    only: dict[str, str] = {}
