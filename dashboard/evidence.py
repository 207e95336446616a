"""Where the rows behind a mark can be seen. Knows pages by name only."""

from __future__ import annotations

from datetime import datetime

from dashboard.page import Asked, write_link
from zklake.roles import is_enough


def link_rows(asked: Asked, table: str, seq: int, at: datetime) -> str:
    """The rows that began with this event; where SQL may not be asked, the cluster at that time."""
    if not asked.options.sql or not is_enough(asked.role, "analyst"):
        return asked.link_at(max(at, asked.span.start))
    query = f"SELECT * FROM {table} WHERE valid_from_seq = {seq}"  # noqa: S608
    return write_link("sql", {"query": query})
