"""What a table is: its columns with type, comment and the SQL that makes them, its key, its files.

Plain text and tuples: whoever creates, folds, reads or documents a table starts here. It knows
nothing of Spark, of Kafka or of any single table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# deltalake, polars, DuckDB and Trino all read protocol 1; deletion vectors, column mapping, type
# widening and v2 checkpoints would each raise it.
_PROPERTIES = {
    "delta.minReaderVersion": "1",
    "delta.minWriterVersion": "2",
    "delta.enableDeletionVectors": "false",
}

EndedBy = Literal["deleted", "changed", "recreated", "unreadable", "resync"]

ENDED_BY: dict[EndedBy, str] = {
    "deleted": "the znode was deleted",
    "changed": "its data was written",
    "recreated": "another life of the znode was met, and nobody saw this one end",
    "unreadable": "a value was written that could not be decoded",
    "resync": "a complete look at the tree, with nothing older to vouch for it, did not meet it",
}


@dataclass(frozen=True)
class Column:
    """One column. `sql` makes it from an event; without it the fold itself fills the column in."""

    name: str
    type: str
    comment: str
    sql: str | None = None
    required: bool = False

    @property
    def ddl(self) -> str:
        """The column as a line of CREATE TABLE."""
        required = " NOT NULL" if self.required else ""
        return f"`{self.name}` {self.type}{required} COMMENT '{quote(self.comment)}'"


@dataclass(frozen=True)
class Table:
    """One table. `columns` stand in the order in which they are stored."""

    name: str
    grain: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    partition_by: tuple[str, ...] = ()
    # A table whose rows are states with a beginning and an end, and what may end one.
    ends: tuple[EndedBy, ...] = ()
    # Interval tables: which events they are made of (SQL), and the schema of the znode's JSON.
    source: str = "true"
    payload: str = ""
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def is_interval(self) -> bool:
        """Whether rows are states that open and close, rather than records that are appended."""
        return bool(self.ends)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in stored order."""
        return tuple(column.name for column in self.columns)

    @property
    def made(self) -> tuple[Column, ...]:
        """The columns that SQL makes from an event."""
        return tuple(column for column in self.columns if column.sql is not None)

    @property
    def schema(self) -> str:
        """The columns as a schema string."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)

    def create_sql(self, path: str) -> str:
        """CREATE TABLE at a path, with comments."""
        columns = ",\n  ".join(column.ddl for column in self.columns)
        partitions = (
            f"\nPARTITIONED BY ({', '.join(self.partition_by)})" if self.partition_by else ""
        )
        properties = ", ".join(
            f"'{key}' = '{value}'" for key, value in (_PROPERTIES | self.properties).items()
        )
        return (
            f"CREATE TABLE IF NOT EXISTS delta.`{path}` (\n  {columns}\n) USING delta{partitions}\n"
            f"COMMENT '{quote(self.grain)}'\nTBLPROPERTIES ({properties})"
        )


def quote(text: str) -> str:
    """Text for the inside of a SQL string literal."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def millis(sql: str) -> str:
    """SQL: epoch milliseconds as a timestamp; null where Spark would fail on a wild number."""
    return f"timestamp_millis(CASE WHEN {sql} BETWEEN 0 AND 253402300799999 THEN {sql} END)"
