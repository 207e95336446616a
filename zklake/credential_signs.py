"""What looks like a credential: names, misspelt ones too, and values. No settings, no znodes."""

from __future__ import annotations

import re
from functools import lru_cache

_PART = re.compile(
    r"pas+[a-z]{0,2}w|passphrase|pwd|(?<![a-z])pw(?![a-z])|secret|token|jaas|cred|key|bearer"
    r"|authorization|\bauth\.user|licen[cs]e|cookie|webhook",
    re.IGNORECASE | re.ASCII,
)
# Values that give themselves away whatever their key is called. `token://` is a listener's name, a
# topic may be called webhook. Every repetition is bounded by what may follow: values are hostile.
_SECRET_VALUE = re.compile(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?"
    r"|(?:api|access|account|private|server|signing|stored)[._-]?key|sharedaccess[a-z]{1,20})"
    r"[\"'\\\s]*(?:=|:(?!//))"
    r"|\b(?:bearer|basic)\s+[a-z0-9+/._~-]{3}|authorization:|LoginModule|PRIVATE KEY"
    r"|://[^/\s@]*@|[^\s/:@]:[^\s/:@]+@[a-z0-9\[]"
    r"|hooks\.slack\.com|://[^\s:]{0,99}webhook|telegram\.org/bot"
    r"|\beyJ[a-z0-9_-]{4,99}\.eyJ|\bAKIA[a-z0-9]{12}",
    re.IGNORECASE | re.ASCII,
)
# A slip of one letter, two in the long ones: `pasword`, `passowrd`, `sceret`, `tokne`.
_WORDS = {"password": 2, "passphrase": 2, "credential": 2, "secret": 1, "token": 1}
_SEPARATOR = re.compile(r"[^a-z0-9]+")
_LONGEST = max(map(len, _WORDS)) + 2


@lru_cache(maxsize=4096)
def resembles_credential(name: str) -> bool:
    """Whether something of this name may well hold a secret; `….location` only says where."""
    if name.lower().endswith((".location", ".type")):
        return False
    if _PART.search(name):
        return True
    parts = [part for part in _SEPARATOR.split(name.lower()) if 4 <= len(part) <= _LONGEST]
    return any(_distance(part, word) <= slips for part in parts for word, slips in _WORDS.items())


def is_secret_value(text: str) -> bool:
    """Whether a value looks like a credential whatever it is called."""
    return _SECRET_VALUE.search(text) is not None


def _distance(one: str, other: str) -> int:
    """Letters to add, drop, change, or exchange with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]
