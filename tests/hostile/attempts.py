"""What an attempt is: one text, request, name or record that means no good, and its class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import pytest

T = TypeVar("T")


class Attempt(NamedTuple):
    """`group` is a line of the table in SECURITY.md."""

    group: str
    title: str
    text: str


def name_all(group: str, texts: Iterable[str]) -> tuple[Attempt, ...]:
    """Attempts that are their own title."""
    return tuple(Attempt(group, ascii(text)[1:60], text) for text in texts)


def list_params(attempts: Iterable[Attempt]) -> list[object]:
    """For parametrize: a test by group and title."""
    return [
        pytest.param(one, id=f"{one.group}-{number}-{one.title}")
        for number, one in enumerate(attempts)
    ]
