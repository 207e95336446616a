"""Logging: console lines in a terminal, JSON lines otherwise, always on stderr.

Znode names and data are other people's bytes: none of them may start a line of its own, or reach
the terminal as an escape sequence.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from zklake.errors import SettingsError
from zklake.settings.names import MASK, looks_secret

LEVELS = ("debug", "info", "warning", "error", "critical")

# C0, DEL and C1 controls; line and paragraph separators; bidirectional controls, which reorder what
# a person reads; lone surrogates, which cannot be encoded.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Tracebacks are several lines by nature.
_MULTILINE = ("exception", "stack")


def configure_logging(level: str = "info") -> None:
    """Set up structlog, and route the standard library's logging through it at WARNING."""
    if level not in LEVELS:
        raise SettingsError(f"log level {level!r}: expected one of {', '.join(LEVELS)}")
    enrich = _enrich()
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, *enrich, escape_event, _renderer()],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_foreign_formatter(enrich))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def _enrich() -> list[Processor]:
    return [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]


def _foreign_formatter(enrich: list[Processor]) -> logging.Formatter:
    """For kazoo, py4j and others that log by the standard library."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *enrich],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            escape_event,
            _renderer(),
        ],
    )


def _renderer() -> Processor:
    if not sys.stderr.isatty():
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(
        colors=not os.environ.get("NO_COLOR"),
        # Not rich's: it prints the values of local variables, secrets among them.
        exception_formatter=structlog.dev.plain_traceback,
    )


def escape_event(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Make every key and value of a log event safe to print."""
    return {
        escape(key): _escape_lines(value) if key in _MULTILINE else _escape_value(value)
        for key, value in event.items()
    }


def escape(text: str) -> str:
    """Text with everything that steers a terminal or breaks a line written as \\x.., \\u...."""
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def _escape_lines(value: object) -> str:
    # Indented: an exception's message may hold a line end and then something like a log line.
    return "\n".join(f"  {escape(line)}" for line in str(value).split("\n"))


def _escape_entry(key: str, value: object) -> object:
    # Client options, when somebody logs them whole.
    return MASK if looks_secret(key) else _escape_value(value)


def _escape_value(value: object) -> object:
    if isinstance(value, str):
        return escape(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {escape(str(key)): _escape_entry(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_escape_value(inner) for inner in value]
    return escape(repr(value))
