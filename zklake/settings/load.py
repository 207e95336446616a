"""Settings from defaults < TOML file < environment < flags, all errors at once.

Opens files, never a socket.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from zklake.credential_signs import is_secret_value
from zklake.errors import SettingsError
from zklake.settings.models import Settings
from zklake.settings.names import DEFAULT_FILE, MASK, looks_secret
from zklake.settings.sources import (
    Found,
    Given,
    Problem,
    read_environment,
    read_flags,
    read_toml,
)

_SHOWN_CHARACTERS = 80


class Loaded(NamedTuple):
    """Settings, and who gave each of them, by dotted key; what is not in it is a default."""

    settings: Settings
    origins: dict[str, str]


def load_settings(
    config: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings; SettingsError lists everything that is wrong with them."""
    return load_with_origins(config, flags, environ).settings


def load_with_origins(
    config: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """The settings, and where each of them came from."""
    environ = os.environ if environ is None else environ
    path = _find_file(config, environ)
    layers = (
        read_toml(path) if path else iter(()),
        read_environment(environ),
        read_flags(flags or {}),
    )
    given, problems = _merge(layers)
    tree, unread = _build_tree(given)
    problems += unread
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        problems += [_describe(detail, given) for detail in error.errors(include_url=False)]
    if problems:
        # Raised out here, so that no traceback drags the ValidationError and its inputs along.
        raise SettingsError(_list_problems(problems))
    return Loaded(settings, {key: one.origin for key, one in given.items()})


def _find_file(config: Path | None, environ: Mapping[str, str]) -> Path | None:
    named = config or environ.get("ZKLAKE_CONFIG")
    if named:
        return Path(named)
    return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).exists() else None


def _merge(layers: tuple[Found, ...]) -> tuple[dict[str, Given], list[Problem]]:
    given: dict[str, Given] = {}
    problems: list[Problem] = []
    for layer in layers:
        for found in layer:
            if isinstance(found, Problem):
                problems.append(found)
            else:
                given[found.key] = found
    return given, problems


def _build_tree(given: Mapping[str, Given]) -> tuple[dict[str, Any], list[Problem]]:
    tree: dict[str, Any] = {}
    problems: list[Problem] = []
    for one in given.values():
        try:
            value = _read_reference(one)
        except (OSError, UnicodeDecodeError):
            problems.append(Problem(one.origin, f"{one.key} = {one.value!r}: cannot read the file"))
            continue
        *groups, name = [*one.field.key.split("."), *([one.option] if one.option else [])]
        table = tree
        for group in groups:
            table = table.setdefault(group, {})
        table[name] = value
    return tree, problems


def _is_secret(given: Given) -> bool:
    return given.field.kind == "secret" or looks_secret(given.option)


def _read_reference(given: Given) -> object:
    """A secret may be given as file:/path; the end of the file's last line is not part of it."""
    value = given.value
    if _is_secret(given) and isinstance(value, str) and value.startswith("file:"):
        return Path(value.removeprefix("file:")).read_text(encoding="utf-8").rstrip("\r\n")
    return value


def _describe(detail: ErrorDetails, given: Mapping[str, Given]) -> Problem:
    loc = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    # A list's error names the element; the setting is what stands before it.
    hits = [one for key, one in given.items() if loc == key or loc.startswith(f"{key}.")]
    raised = detail.get("ctx", {}).get("error")
    allowed = str(raised) if raised else detail["msg"]
    if hits:
        nearest = max(hits, key=lambda one: len(one.key))
        if nearest.field.kind == "tables":  # they may hold secrets
            return Problem(nearest.origin, f"{loc}: {allowed}")
        return Problem(nearest.origin, f"{nearest.key} = {_show_value(nearest)}: {allowed}")
    # Settings of a group that do not hang together: everything given for it had a part in it.
    origins = {one.origin: None for key, one in given.items() if key.startswith(f"{loc}.")}
    return Problem(", ".join(origins), f"{loc}: {allowed}")


def _show_value(given: Given) -> str:
    if _is_secret(given):
        return MASK
    shown = repr(given.value)
    if is_secret_value(shown):
        return MASK
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}…"


def _list_problems(problems: list[Problem]) -> str:
    count = "1 setting is" if len(problems) == 1 else f"{len(problems)} settings are"
    lines = [f"  {origin}: {text}" for origin, text in problems]
    return "\n".join([f"{count} wrong:", *lines])
