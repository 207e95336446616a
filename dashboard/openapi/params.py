"""What an address may be asked with, and the check of what somebody asks. Knows no page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from dashboard.times import LAST_FORMS, LAST_PATTERN, MOMENT_PATTERN
from zklake.errors import QueryError
from zklake.times import MOMENT_FORMS

# An error shows what was asked, but not a page of it.
_SHOWN = 100


@dataclass(frozen=True)
class Param:
    """One parameter: a type that msgspec knows, with all its bounds."""

    name: str
    type: Any
    says: str
    examples: tuple[str, ...] = ()
    is_required: bool = False
    place: Literal["query", "path"] = "query"
    # What it should have been when a value does not fit, where msgspec would show a pattern.
    wanted: str = ""


def describe_moment(name: str, says: str, *examples: str) -> Param:
    """A moment as `zklake at` takes it."""
    type_ = Annotated[str, Meta(pattern=MOMENT_PATTERN)]
    wanted = f"a time. Use {MOMENT_FORMS}"
    return Param(name, type_, f"{says}: {MOMENT_FORMS}.", examples, wanted=wanted)


SPAN: tuple[Param, ...] = (
    Param(
        "last",
        Annotated[str, Meta(pattern=LAST_PATTERN)],
        "The time range, as a time span before now; `1h` by default.",
        ("1h", "7d"),
        wanted=LAST_FORMS,
    ),
    describe_moment("from", "Where the range begins, instead of `last`", "-45m"),
    describe_moment("to", "Where the range ends, by default now", "now"),
)


def check_params(params: Sequence[Param], given: Sequence[tuple[str, str]]) -> None:
    """QueryError when something is asked that is not described; what is missing, a page says."""
    known = {param.name: param for param in params}
    seen: set[str] = set()
    for name, text in given:
        if name not in known:
            those = ", ".join(known) or "none"
            raise QueryError(f"Unknown parameter {name[:_SHOWN]!r}. Use one of: {those}")
        if name in seen:
            raise QueryError(f"The parameter {name} is given twice. Give it once.")
        seen.add(name)
        _check(known[name], text)


def _check(param: Param, text: str) -> None:
    said = f"{param.name}={text[:_SHOWN]!r}"
    try:
        value = msgspec.convert(text, param.type, strict=False)
    except msgspec.ValidationError as error:
        if param.wanted:
            text = text[:_SHOWN]
            raise QueryError(f"{param.name}: cannot read {text!r} as {param.wanted}") from error
        raise QueryError(f"{said} {_explain(param, error)}") from error
    # msgspec takes 2.0 for a whole number, too.
    if isinstance(value, int) and str(value) != text:
        raise QueryError(f"{said} is not a whole number")


def _explain(param: Param, error: msgspec.ValidationError) -> str:
    if get_origin(param.type) is Literal:
        return f"is not one of {', '.join(get_args(param.type))}"
    return f"is not valid: {error}"
