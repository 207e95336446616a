"""The example queries, and how their literals are changed into those of a story."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

QUERIES = Path(__file__).parents[1] / "examples" / "queries"
# What every example speaks of, and its reader changes.
TOPIC, GROUP, TIME = "orders", "readers", "2026-11-16T03:12:00Z"


@dataclass(frozen=True)
class Example:
    """One file: the question it answers, perhaps more comments, and SQL."""

    name: str
    text: str

    @property
    def question(self) -> str:
        return self.text.splitlines()[0].removeprefix("-- ")

    def ask(self, prefix: str, at_ms: int | None = None) -> str:
        """The same of the topic and the group of one story, at that moment."""
        text = self.text
        for name in (TOPIC, GROUP):
            text = text.replace(f"'{name}'", f"'{prefix}{name}'").replace(
                f"/{name}'", f"/{prefix}{name}'"
            )
        if at_ms is None:
            return text
        at = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        return text.replace(TIME, at.replace("+00:00", "Z"))


EXAMPLES = tuple(Example(path.stem, path.read_text()) for path in sorted(QUERIES.glob("*.sql")))
