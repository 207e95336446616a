"""What a GET address is to somebody who asks it: parameters, and an answer per status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.openapi.params import Param
from dashboard.openapi.shapes import Named, Shape

_JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
ERROR = Named("Error", {"error": str})


@dataclass(frozen=True)
class Answer:
    """What comes with one status; text where no shape is said."""

    says: str
    shape: Shape = str
    media_types: tuple[str, ...] = (TEXT,)


@dataclass(frozen=True)
class Address:
    """One address; the answers of the Guard are not among its own."""

    path: str
    # The operation, for those who make a client of the description.
    name: str
    title: str
    says: str
    answers: Mapping[int, Answer]
    params: tuple[Param, ...] = ()
    # Where no password is asked for.
    is_open: bool = False


def answer_json(says: str, shape: Shape) -> Answer:
    """An answer in JSON."""
    return Answer(says, shape, (_JSON,))


def fail(says: str) -> Answer:
    """An error as the JSON addresses tell it."""
    return answer_json(says, ERROR)
