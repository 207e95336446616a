"""A message as text: JSON, or by a template. Names of the watched cluster are data, never code.

In a template every name is escaped, so that none can start a line of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from alerts.delivery import Delivery
from zklake.errors import SettingsError
from zklake.logs import escape

_LONGEST_LINE = 200
_MAIL_SUBJECT = "{{ summary }}"
_MAIL_BODY = """\
{{ summary }}

incident   {{ incident.id }}
rule       {{ incident.rule }} ({{ incident.severity }})
cluster    {{ incident.cluster }}
subject    {{ incident.subject_text }}
began      {{ incident.started_at }}
opened     {{ incident.opened_at }}
{% if incident.ended_at %}
ended      {{ incident.ended_at }}
{% endif %}
{% for name, value in incident.evidence.items() %}
{{ "%-10s"|format(name) }} {{ value if value is string or value is number else value|tojson }}
{% endfor %}
"""

# A sandbox: also a template of somebody who may only write settings opens no file. Text is no HTML.
_ENVIRONMENT = SandboxedEnvironment(
    undefined=StrictUndefined,
    autoescape=False,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_SAMPLE: dict[str, Any] = {
    "delivery_id": "0",
    "event": "close",
    "number": 0,
    "summary": "CLOSED",
    "incident": {
        "id": "0",
        "cluster": "kafka",
        "rule": "group_status",
        "severity": "warning",
        "subject": {"kind": "group", "coordinator": "zookeeper", "group_id": "billing"},
        "subject_text": "group billing (zookeeper)",
        "started_at": "2026-11-16T03:12:00Z",
        "opened_at": "2026-11-16T03:13:00Z",
        "ended_at": "2026-11-16T03:22:00Z",
        "closed_at": "2026-11-16T03:23:00Z",
        "duration_s": 600.0,
        "spells": 1,
        "evidence": {"status": "STOPPED"},
    },
}
_NOT_YET = {"ended_at": None, "closed_at": None, "duration_s": None}
# What every message is at first: without an end.
_OPENED = {**_SAMPLE, "event": "open", "incident": {**_SAMPLE["incident"], **_NOT_YET}}


def write_json(delivery: Delivery) -> str:
    """The whole message; names are as they are."""
    return json.dumps(delivery.message)


def write_body(delivery: Delivery, template: str | None) -> str:
    """By the template, or as JSON."""
    return write_json(delivery) if template is None else fill(template, delivery.message)


def write_mail_body(delivery: Delivery, template: str | None) -> str:
    """By the template, or in plain words."""
    return fill(template or _MAIL_BODY, delivery.message)


def write_subject(delivery: Delivery, template: str | None) -> str:
    """One line, whatever the template makes of it."""
    line = escape(" ".join(fill(template or _MAIL_SUBJECT, delivery.message).split()))
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def fill(template: str, message: Mapping[str, Any]) -> str:
    """The template with the message's values; TemplateError when it asks for something else."""
    return _ENVIRONMENT.from_string(template).render(_escape(message))


def check_template(what: str, template: str | None) -> None:
    """SettingsError when a template cannot be filled."""
    if template is None:
        return
    try:
        for sample in (_SAMPLE, _OPENED):
            fill(template, sample)
    except (TemplateError, TypeError, ValueError) as error:
        raise SettingsError(f"{what}: the template cannot be filled: {error}") from error


def _escape(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, Mapping):
        return {_escape(name): _escape(inner) for name, inner in value.items()}
    return [_escape(inner) for inner in value] if isinstance(value, list) else value
