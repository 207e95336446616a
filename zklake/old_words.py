"""Values of columns that had another name once: rows of an older lake keep the word they have.

`zklake rebuild` writes them anew. Nothing writes an old word. Whoever shows a value, or goes on
with a row that an older version left open, reads it through here.
"""

from __future__ import annotations

# Said of one event by two words until 0.1: `ended_by` of an ephemeral, `trigger` of a rebalance.
OLD_WORDS = {"session_closed": "session_ended", "session_expired": "session_ended"}


def read_word(word: str) -> str:
    """The word as it is now. Not for reasons of gaps, where a session of the watcher expired."""
    return OLD_WORDS.get(word, word)
