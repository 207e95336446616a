"""Who is notified of incidents, as a person writes it: [[alerts.notifiers]]. Sends nothing.

A secret may be given as file:/path, as everywhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from zklake.settings.alert_rules import Seconds, Severity
from zklake.settings.group import Group
from zklake.settings.values import HeaderName, HostPorts, Name, NamePattern, SecretOrFile

_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+")
_OURS = ("content-type", "content-length", "host", "idempotency-key")


def _check_url(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_good &= parts.username is None
    except ValueError:
        is_good = False
    if not is_good or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("expected http://… or https://…; a password goes into headers")
    return secret


def _check_line(secret: SecretStr) -> SecretStr:
    _check_plain(secret.get_secret_value())
    return secret


def _check_plain(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError("expected one line of ASCII")
    return text


def _check_word(text: str) -> str:
    if "\0" in text:
        raise ValueError("no argument of a program can hold NUL")
    return text


def _check_header(text: str) -> str:
    if text.lower() in _OURS:
        raise ValueError(f"expected the name of a header, none of {', '.join(_OURS)}")
    return text


def _check_address(text: str) -> str:
    if not _ADDRESS.fullmatch(text) or not text.isascii():
        raise ValueError("expected name@host")
    return text


Url = Annotated[SecretOrFile, AfterValidator(_check_url)]
Line = Annotated[SecretOrFile, AfterValidator(_check_line)]
Plain = Annotated[str, AfterValidator(_check_plain)]
Word = Annotated[str, AfterValidator(_check_word)]
Header = Annotated[HeaderName, AfterValidator(_check_header)]
Address = Annotated[str, AfterValidator(_check_address)]


class Notifier(Group):
    """What all notifiers have."""

    name: Name | None = None
    """Under which the journal knows it; not set: what it sends by. Each may be given once."""
    rules: tuple[NamePattern, ...] = ("*",)
    """Rules whose incidents it sends, by name."""
    severity: Severity = "info"
    """The least severity it sends."""
    send_once: bool = True
    """Tell an incident once, and not again while it lasts."""
    send_interval_s: Annotated[Seconds, Field(ge=1)] = 3600
    """With send_once = false: send it again after so long."""
    send_close: bool = True
    """Tell its end, too."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 10
    """What takes longer has failed, and is tried again."""
    body: str | None = None
    """Template of the text; not set: JSON (webhook, command) or plain words (mail)."""

    @property
    def title(self) -> str:
        """The name that counts."""
        return self.name or str(type(self).model_fields["by"].default)


class Webhook(Notifier):
    """POST to an address; any 2xx is a yes. Redirects are not followed."""

    by: Literal["webhook"] = "webhook"
    url: Url
    """Where to; it may hold a token, so it is kept as a secret. `file:/path` is read."""
    headers: dict[Header, Line] = Field(default_factory=dict)
    """Headers to send; their values are secrets, `file:/path` is read."""
    content_type: Annotated[str, Field(pattern=r"^[\w.+-]+/[\w.+-]+(; ?[\w-]+=[\w-]+)?$")] = (
        "application/json"
    )
    """Of the body."""
    ca_file: Path | None = None
    """PEM file of the CAs that sign the server's certificate; not set: those of the system."""


class Command(Notifier):
    """Run a program with the message on its standard input; exit code 0 is a yes."""

    by: Literal["command"] = "command"
    argv: Annotated[tuple[Word, ...], Field(min_length=1)]
    """The program and its arguments; no shell, and nothing is filled in."""


class Mail(Notifier):
    """Send an e-mail by SMTP."""

    by: Literal["mail"] = "mail"
    smtp: HostPorts
    """HOST:PORT of the mail server."""
    security: Literal["starttls", "tls", "none"] = "starttls"
    """starttls (port 587), tls from the first byte (465), or none."""
    ca_file: Path | None = None
    """PEM file of the CAs that sign its certificate; not set: those of the system."""
    user: Plain | None = None
    """Log in as."""
    password: Line | None = None
    """With this password; `file:/path` is read."""
    sender: Address
    """From."""
    to: Annotated[tuple[Address, ...], Field(min_length=1)]
    """To."""
    subject: str | None = None
    """Template of the subject; not set: the summary."""

    @model_validator(mode="after")
    def _hang_together(self) -> Self:
        if "," in self.smtp:
            raise ValueError("smtp: expected one HOST:PORT")
        if (self.user is None) != (self.password is None):
            raise ValueError("user and password go together")
        if self.password is not None and self.security == "none":
            raise ValueError("a password needs security = starttls or tls")
        return self


AnyNotifier = Annotated[Webhook | Command | Mail, Field(discriminator="by")]
