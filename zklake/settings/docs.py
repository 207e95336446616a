"""Writes docs/settings.md from the models: `python -m zklake.settings.docs > docs/settings.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from html import escape
from inspect import cleandoc

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from zklake.settings.fields import SettingField, groups, setting_fields
from zklake.settings.names import SHORT_FORMS, env_name

_INTRO = """\
# Settings

<!-- Written by `python -m zklake.settings.docs`; do not edit. -->

Defaults < TOML file < environment < flags. The file is the one of `--config` or `ZKLAKE_CONFIG`,
else `./zklake.toml` when it exists. `zklake config show` prints every value and where it came from.

- In the environment a setting is `ZKLAKE_<GROUP>__<NAME>`; a variable that is empty counts as not
  given. Lists are comma-separated or JSON.
- librdkafka options are written `ZKLAKE_LOG__CLIENT__SASL_USERNAME` for `sasl.username`; in TOML,
  `sasl.username = "…"` under `[log.client]`.
- A secret may be given as `file:/path`; the file is read at start. Secrets are never printed.
- Unknown names are errors, in all three places.
"""


def write_docs() -> str:
    """The whole page."""
    return "\n".join([_INTRO, *_write_sections()])


def _write_sections() -> Iterator[str]:
    fields = setting_fields().values()
    yield from _write_table("Top level", "", [field for field in fields if "." not in field.key])
    for name, model in groups().items():
        mine = [field for field in fields if field.key.startswith(f"{name}.")]
        yield from _write_table(f"[{name}]", cleandoc(model.__doc__ or ""), mine)


def _write_table(title: str, intro: str, fields: list[SettingField]) -> Iterator[str]:
    yield f"## {title}\n"
    if intro:
        yield f"{intro}\n"
    yield "| setting | default | environment | what it is |"
    yield "|---|---|---|---|"
    yield from (_write_row(field) for field in fields)
    yield ""


def _write_row(field: SettingField) -> str:
    name = field.key.rpartition(".")[2]
    variables = f"`{env_name(field.key)}`"
    for short, key in SHORT_FORMS.items():
        if key == field.key and short != key:
            variables = f"`{env_name(short)}` (`--{short}`), {variables}"
        elif key == field.key:
            variables = f"{variables} (`--{short}`)"
    what = escape(field.info.description or "", quote=False)
    if field.kind == "secret":
        what += " Secret."
    return f"| `{name}` | {_write_default(field)} | {variables} | {what} |"


def _write_default(field: SettingField) -> str:
    default = field.info.get_default(call_default_factory=True, validated_data={})
    assert default is not PydanticUndefined, field.key
    assert not isinstance(default, SecretStr), field.key
    return "" if default is None else f"`{json.dumps(default)}`"


if __name__ == "__main__":
    sys.stdout.write(write_docs())
