"""A question on its way to the process that answers it, and the bounds it runs in."""

from __future__ import annotations

import msgspec

from delta_tables.lakes import Lake


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one question may take."""

    timeout_s: float = 60
    max_rows: int = 100_000
    memory_bytes: int = 1 << 30


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A checked query, the tables and views that it names, and where they lie.

    `only`: by table, a condition; rows that do not meet it cannot matter to the answer.
    """

    lakes: list[Lake]
    sql: str
    names: list[str]
    limits: Limits
    only: dict[str, str] = {}
