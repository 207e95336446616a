"""Words of a command line as a person may see them: what looks like a secret is masked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from zklake.credential_signs import is_secret_value, resembles_credential
from zklake.settings.names import MASK

# `--token=x`, `TOKEN=x`, `Authorization: x`.
_NAMED = re.compile(r"([^\s=:]{1,100}(?:=|:\s))(.*)", re.DOTALL)
# Chat hooks and their like: the path is the secret.
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*://[^/?#@\s]*).*", re.IGNORECASE | re.DOTALL)
# Letters and digits in a row that nobody reads: a key, or as good as one.
_RANDOM = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_+=~-]{20,}")
# What curl, mysql and others call a login or a password.
_LOGIN_FLAGS = frozenset({"-p", "-u", "-U", "--user", "--proxy-user", "-w"})


def mask_words(words: Iterable[str]) -> list[str]:
    """The words, without those that may be secrets."""
    shown: list[str] = []
    flag = ""
    for word in words:
        is_flag = word.startswith("-") and "=" not in word and " " not in word
        hides = flag in _LOGIN_FLAGS or (bool(flag) and resembles_credential(flag))
        shown.append(MASK if hides and not is_flag else _mask_word(word))
        flag = word if is_flag else ""
    return shown


def _mask_word(word: str) -> str:
    named = _NAMED.fullmatch(word)
    if named and resembles_credential(named[1]):
        return named[1] + MASK
    if is_secret_value(word) or _RANDOM.fullmatch(word):
        return MASK
    address = _ADDRESS.fullmatch(word)
    if address and address[1] != word:
        return f"{address[1]}/{MASK}"
    if named:
        return named[1] + _mask_word(named[2])
    return word
