"""What the product says of a chapter: a page and a command that show it, and rows of the lake."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from lab.first_light import Rows, wait_for_rows
from lab.story_chapters import Pointer
from zklake.errors import LabError
from zklake.supervision.part import Site

_PATIENCE_S = 60.0


class StoryAnswers:
    """Points at what can be seen, and shows what the tables have of it."""

    def __init__(
        self, site: Site, page: str, say: Callable[[str], None], show: Callable[[Rows], None]
    ) -> None:
        """`page` is where the dashboard answers, with its slash."""
        self._site, self._page = site, page
        self._say, self._show = say, show

    def point(self, look: Pointer) -> None:
        """Say where to look."""
        self._say(f"  look: {self._page}{look.page}  or: {look.command}")

    def answer(self, look: Pointer, since: datetime) -> None:
        """Show what the lake has of it; a lake that is behind does not end the story."""
        moment = f"TIMESTAMP '{since.astimezone(UTC).isoformat()}'"
        sql = look.sql.format(since=moment)
        seen: list[Rows] = []

        def is_enough(rows: Rows) -> bool:
            seen[:] = [rows]
            return len(rows) >= look.least_rows

        try:
            wait_for_rows(self._site, "the rows", sql, is_enough, _PATIENCE_S)
        except LabError:
            self._say("  the tables do not have all of it yet; `zklake status` says how they are")
        if seen and seen[0]:
            self._say("  the tables say:")
            self._show(seen[0])
