"""The words for how a group is doing, from best to worst."""

from __future__ import annotations

ORDER = ("OK", "WARN", "REWIND", "ABANDONED", "UNOWNED", "STALLED", "STOPPED")


def write_severity(column: str) -> str:
    """SQL: how bad a status is, 0 for the best; null when it is not known."""
    cases = " ".join(f"WHEN '{word}' THEN {number}" for number, word in enumerate(ORDER))
    return f"CASE {column} {cases} END"


def name_severity(severity: int | None) -> str | None:
    """The word again."""
    return None if severity is None else ORDER[severity]
