"""The name that somebody may have meant. Imports nothing of ours: it is in what starts often."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, or nothing when no known name is near."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""
