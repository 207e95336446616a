"""What a GET address is to somebody who asks it: parameters, and an answer per status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from dashboard.openapi.params import Param
from dashboard.openapi.shapes import Compiled

_JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


class Error(msgspec.Struct, forbid_unknown_fields=True):
    """Every answer below /api/ that is no 200."""

    error: str


@dataclass(frozen=True)
class DocumentedAnswer:
    """What comes with one status; text where no type is said."""

    says: str
    type: Any = str
    # Types that its description refers to, and it does not.
    others: tuple[Any, ...] = ()
    media_types: tuple[str, ...] = (TEXT,)


@dataclass(frozen=True)
class Address:
    """One address; the answers of the Guard are not among its own."""

    path: str
    # The operation, for those who make a client of the description.
    name: str
    title: str
    says: str
    answers: Mapping[int, DocumentedAnswer]
    params: tuple[Param, ...] = ()
    # Where no password is asked for.
    is_open: bool = False


def answer_json(says: str, answer: Compiled) -> DocumentedAnswer:
    """An answer in JSON."""
    return DocumentedAnswer(says, answer.type, answer.others, (_JSON,))


def fail(says: str) -> DocumentedAnswer:
    """An error as the JSON addresses return it."""
    return answer_json(says, Compiled(Error))
