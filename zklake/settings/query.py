"""The settings of questions: what one of them may take."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt

from zklake.settings.group import Group


class QuerySettings(Group):
    """What one question may take (`zklake sql`, `zklake at`, the dashboard)."""

    timeout_s: PositiveFloat = 60
    """Seconds; then it is stopped (`--timeout`)."""
    max_rows: PositiveInt = 100_000
    """Rows that are shown; more are cut off, and that is said (`--max-rows`)."""
    least_rise: PositiveInt = 100
    """Rises of lag by fewer records are noise: Why does not list them (`--least`)."""
    memory_bytes: Annotated[int, Field(ge=128 << 20)] = 1 << 30
    """Memory that it may take beside what its process takes anyway; then it is stopped."""
