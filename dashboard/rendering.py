"""Templates, and what they can say: numbers, times, links. Everything is escaped by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from alerts.evidence import format_evidence
from dashboard.colours import colour_broker
from dashboard.finding import Match
from dashboard.hints import explain_status, find_hint, write_head
from dashboard.incident_view import draw_lines
from dashboard.options import Options
from dashboard.page import Asked, Data, Page, write_link
from dashboard.pages import PAGES
from dashboard.pulse import Pulse
from dashboard.times import CHOICES
from zklake.phrases import (
    format_action,
    format_coordinator,
    format_count,
    format_end,
    format_gap,
    format_held,
    format_operation,
    format_trigger,
    format_trigger_kind,
    format_word,
    inflect,
)
from zklake.roles import Role, is_enough
from zklake.times import MOMENT_FORMS, write_duration, write_time

_MOMENTS = {
    "full": "%Y-%m-%d %H:%M:%SZ",
    "zoned": "%Y-%m-%d %H:%M:%S UTC",
    "clock": "%H:%M:%SZ",
}
_UNITS = ("", "k", "M", "G", "T", "P", "E")


def write_number(value: float | None) -> str:
    """1,234 as it is; nothing for what is not known."""
    return "–" if value is None else f"{value:,.0f}" if isinstance(value, int) else f"{value:,.1f}"


def write_signed(value: float) -> str:
    """+1,234 or −1.5: by how much something changed."""
    sign = "−" if value < 0 else "+"
    return f"{sign}{write_number(abs(value))}"


def write_short(value: float | None) -> str:
    """1.2 M, where the place is narrow."""
    if value is None:
        return "–"
    rest = float(value)
    for unit in _UNITS:
        if abs(rest) < 1000 or unit == _UNITS[-1]:
            return f"{rest:.0f}" if not unit else f"{rest:.1f} {unit}"
        rest /= 1000
    raise AssertionError


def write_bytes(value: int) -> str:
    """12.3 MiB."""
    rest = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if rest < 1024:
            return f"{rest:.0f} {unit}" if unit == "B" else f"{rest:.1f} {unit}"
        rest /= 1024
    return f"{rest:.1f} TiB"


def write_moment(at: datetime | None, form: str = "full") -> Markup:
    """A time with its zone; the browser can write it in its own."""
    if at is None:
        return Markup('<span class="faint">–</span>')
    text = at.strftime(_MOMENTS[form])
    return Markup('<time datetime="{}" data-form="{}">{}</time>').format(write_time(at), form, text)


def write_age(at: datetime | None) -> Markup:
    """How long ago; the browser counts on."""
    if at is None:
        return Markup('<span class="faint">–</span>')
    from_now = (datetime.now(at.tzinfo) - at).total_seconds()
    return Markup('<time datetime="{}" data-form="age">{}</time>').format(
        write_time(at), write_duration(max(0, from_now))
    )


def write_cell(value: object) -> str | Markup:
    """Any value of any table."""
    match value:
        case None:
            return Markup('<span class="faint">null</span>')
        case datetime():
            return write_moment(value)
        case bytes():
            return value.decode(errors="backslashreplace")
        case bool() | list() | dict():
            return msgspec.json.encode(value).decode()
    return str(value)


def is_number(value: object) -> bool:
    """Whether it stands to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_ENVIRONMENT = Environment(
    loader=PackageLoader("dashboard"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(
    number=write_number,
    signed=write_signed,
    short=write_short,
    bytes=write_bytes,
    broker_colour=colour_broker,
    duration=write_duration,
    iso=write_time,
    lines=draw_lines,
    moment=write_moment,
    age=write_age,
    cell=write_cell,
    action=format_action,
    coordinator=format_coordinator,
    count=format_count,
    ending=format_end,
    evidence=format_evidence,
    gap=format_gap,
    noun=inflect,
    operation=format_operation,
    held=format_held,
    trigger=format_trigger,
    trigger_kind=format_trigger_kind,
    words=format_word,
)
_ENVIRONMENT.tests["numeric"] = is_number
_ENVIRONMENT.globals.update(
    moment_forms=MOMENT_FORMS, head=write_head, hint=find_hint, explain_status=explain_status
)


def render(page: Page, asked: Asked, data: Data, drawings: Mapping[str, Markup], mark: str) -> str:
    """One page as HTML."""
    kept = {
        name: value for name, value in asked.params.items() if name not in ("from", "to", "last")
    }

    def here(**params: object) -> str:
        """This page with other parameters."""
        return write_link(page.name, {**kept, **asked.span.params, **params})

    def choose(last: str) -> str:
        """This page in another range."""
        return write_link(page.name, {**kept, "last": last})

    asks = {param.name for param in page.all_params}
    described = {
        name: value for name, value in (*kept.items(), *asked.span.params.items()) if name in asks
    }
    template = _ENVIRONMENT.get_template(f"{page.name}.html")
    return template.render(
        **_frame(page, asked.options, asked.pulse, asked.role),
        link=asked.link,
        link_at=asked.link_at,
        here=here,
        choose=choose,
        choices=CHOICES,
        span=asked.span,
        api=write_link(f"api/{page.name}", described),
        live=write_link("live", {"page": page.name, "seen": mark}),
        data=data,
        drawings=drawings,
        params=asked.params,
    )


def render_error(
    title: str,
    text: str,
    options: Options,
    pulse: Pulse | None,
    role: Role,
    *,
    suggestions: Sequence[Match] = (),
) -> str:
    """What went wrong, and what to do, on a page of its own."""
    template = _ENVIRONMENT.get_template("error.html")
    frame = _frame(None, options, pulse, role)
    return template.render(
        **frame, title=title, text=text, link=_link_plain, suggestions=suggestions
    )


def _link_plain(page: str, /, **params: object) -> str:
    return write_link(page, params)


def _frame(page: Page | None, options: Options, pulse: Pulse | None, role: Role) -> dict[str, Any]:
    menu: Sequence[Page] = [
        one
        for one in PAGES
        if one.in_menu and is_enough(role, one.role) and (options.sql or one.name != "sql")
    ]
    return {"page": page, "menu": menu, "cluster": options.cluster, "pulse": pulse}
