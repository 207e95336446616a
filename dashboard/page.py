"""What a page is: a name, the tables it reads, functions from a request to data and drawings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from dashboard.openapi.params import SPAN, Param
from dashboard.openapi.shapes import Compiled, Shape, compile_shape
from dashboard.options import Options
from dashboard.pulse import Pulse
from dashboard.turns import Turns
from delta_tables.asking.cancellation import Cancellation
from delta_tables.live.span import Span
from delta_tables.live.tables import Tables
from zklake.roles import Role
from zklake.times import write_time

Data = dict[str, Any]


class Asked(NamedTuple):
    """A request, read."""

    tables: Tables
    span: Span
    params: Mapping[str, str]
    now: datetime
    options: Options
    pulse: Pulse
    # For what is asked of the sandbox: whose turn it is, and whether somebody still waits for it.
    turns: Turns
    cancellation: Cancellation
    role: Role

    def link(self, page: str, /, **params: object) -> str:
        """The address of another page, in the same time range."""
        return write_link(page, {**params, **self.span.params})

    def link_at(self, at: datetime | None) -> str:
        """The time machine at a moment; where none is known, at the last one."""
        return self.link("at", time=write_time(at) if at else None)


def write_link(page: str, params: Mapping[str, object]) -> str:
    """The address of a page; names of any kind are safe in a query."""
    given = {name: value for name, value in params.items() if value not in (None, "")}
    path = "/" if page == "overview" else f"/{page}"
    return f"{path}?{urlencode(given)}" if given else path


def draw_nothing(asked: Asked, data: Data) -> dict[str, Markup]:
    """For pages without drawings."""
    return {}


def stay(asked: Asked, data: Data) -> str | None:
    """For pages that are shown themselves."""
    return None


@dataclass(frozen=True)
class Page:
    """One page: templates/<name>.html shows what `load` returns, /api/<name> the same as JSON."""

    name: str
    title: str
    load: Callable[[Asked], Data]
    # The tables whose news it shows.
    reads: tuple[str, ...] = ()
    draw: Callable[[Asked, Data], dict[str, Markup]] = draw_nothing
    # The address of another page that a person wants instead.
    forward: Callable[[Asked, Data], str | None] = stay
    in_menu: bool = True
    # The page of the menu that it belongs to, if it stands not there itself.
    under: str = ""
    has_span: bool = True
    # The least role that may open it.
    role: Role = "viewer"
    # What its JSON may be asked with beyond the time range, and the shape of what `load` returns.
    params: tuple[Param, ...] = ()
    answer: Mapping[str, Shape] = field(kw_only=True)

    @cached_property
    def compiled(self) -> Compiled:
        """The type of its JSON: of what `load` returns, and the pulse."""
        return compile_shape({**self.answer, "pulse": Pulse}, f"{self.name.capitalize()}Answer")

    def encode(self, data: Data, pulse: Pulse) -> bytes:
        """What `load` returned as JSON; what is not as declared raises ValidationError."""
        answer = msgspec.convert({**data, "pulse": pulse}, self.compiled.type, from_attributes=True)
        return msgspec.json.encode(answer)

    @property
    def all_params(self) -> tuple[Param, ...]:
        """With those of the time range."""
        return (*self.params, *(SPAN if self.has_span else ()))
