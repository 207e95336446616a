"""The kinds of value a setting can hold, and what each refuses. Knows no particular setting.

A refusal says what is wanted and never repeats the value: it may be a secret.
"""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, SecretStr

from zklake.credential_signs import is_secret_value
from zklake.settings.names import MASK, looks_secret

_HOST_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[^\s,:/\[\]@]+):(\d{1,5})")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
# RFC 9110; what is left out would end it.
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Of what is asked for over the network, and can be guessed there.
_SHORTEST_SECRET = 12

# What zklake sets itself: the log's exactly-once hangs on the first ones.
_RESERVED = {
    "transactional.id": "zklake derives it from the cluster",
    "enable.idempotence": "zklake needs it on",
    "acks": "zklake needs all of them",
    "request.required.acks": "zklake needs all of them",
    "bootstrap.servers": "set `bootstrap` instead",
    "metadata.broker.list": "set `bootstrap` instead",
}


class ClientOptions(dict[str, str]):
    """Options of librdkafka or of Spark: an ordinary dict whose repr hides the secrets."""

    def masked(self) -> dict[str, str]:
        """A copy that may be shown."""
        return {
            name: MASK if looks_secret(name) or is_secret_value(value) else value
            for name, value in self.items()
        }

    def __repr__(self) -> str:
        return repr(self.masked())


def _is_host_port(text: str, lowest_port: int) -> bool:
    match = _HOST_PORT.fullmatch(text)
    return match is not None and lowest_port <= int(match[1]) <= 65535


def _check_host_ports(text: str) -> str:
    if not all(_is_host_port(part, lowest_port=1) for part in text.split(",")):
        raise ValueError("expected HOST:PORT[,HOST:PORT…]")
    return text


def _check_zookeeper_connect(text: str) -> str:
    hosts, slash, chroot = text.partition("/")
    all_hosts = all(_is_host_port(part, lowest_port=1) for part in hosts.split(","))
    all_names = not chroot or all(
        name.isprintable() and name not in ("", ".", "..") for name in chroot.split("/")
    )
    if not (all_hosts and all_names):
        raise ValueError("expected HOST:PORT[,HOST:PORT…][/chroot]")
    return hosts + slash + chroot if chroot else hosts


def _check_listen(text: str) -> str:
    if not _is_host_port(text, lowest_port=0):
        raise ValueError("expected HOST:PORT (port 0: any free port)")
    return text


def _check_name(text: str) -> str:
    # The name is a directory of the lake and part of a topic's name: "." and ".." are neither.
    if not _NAME.fullmatch(text) or text in (".", ".."):
        raise ValueError("expected 1 to 100 of the characters A-Z a-z 0-9 . _ - (not only dots)")
    return text


def _check_path_pattern(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("expected znode path patterns, each starting with /")
    return text


def _check_name_pattern(text: str) -> str:
    if not text or text != text.strip():
        raise ValueError("expected names, with * for any part of one")
    return text


def _check_digest(secret: SecretStr) -> SecretStr:
    user, colon, password = secret.get_secret_value().partition(":")
    if not (user and colon and password):
        raise ValueError("expected user:password")
    return secret


def _check_shared(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value()) < _SHORTEST_SECRET:
        raise ValueError(
            f"use {_SHORTEST_SECRET} characters or more: make one with `openssl rand -hex 32`"
        )
    return secret


def _check_header_name(text: str) -> str:
    if not _HEADER.fullmatch(text):
        raise ValueError("expected the name of a header")
    return text


def _check_network(text: str) -> str:
    try:
        ip_network(text, strict=False)
    except ValueError as error:
        raise ValueError(
            "expected addresses or networks, such as 10.1.2.3 or 10.1.0.0/16"
        ) from error
    return text


def _read_file(value: object) -> object:
    if not isinstance(value, str) or not value.startswith("file:"):
        return value
    try:
        return Path(value.removeprefix("file:")).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError("cannot read the file") from error


def _refuse_reserved(name: str) -> str:
    if name in _RESERVED:
        raise ValueError(f"{name} is reserved: {_RESERVED[name]}")
    return name


def _write_as_librdkafka(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


HostPorts = Annotated[str, AfterValidator(_check_host_ports)]
ZooKeeperConnect = Annotated[str, AfterValidator(_check_zookeeper_connect)]
Listen = Annotated[str, AfterValidator(_check_listen)]
Name = Annotated[str, AfterValidator(_check_name)]
PathPattern = Annotated[str, AfterValidator(_check_path_pattern)]
NamePattern = Annotated[str, AfterValidator(_check_name_pattern)]
Digest = Annotated[SecretStr, AfterValidator(_check_digest)]
SharedSecret = Annotated[SecretStr, AfterValidator(_check_shared)]
# In lists of tables, into which the loader does not look.
SecretOrFile = Annotated[SecretStr, BeforeValidator(_read_file)]
SharedSecretOrFile = Annotated[SecretOrFile, AfterValidator(_check_shared)]
HeaderName = Annotated[str, AfterValidator(_check_header_name)]
Network = Annotated[str, AfterValidator(_check_network)]
Client = Annotated[
    dict[
        Annotated[str, AfterValidator(_refuse_reserved)],
        Annotated[str, BeforeValidator(_write_as_librdkafka)],
    ],
    AfterValidator(ClientOptions),
    PlainSerializer(lambda options: ClientOptions(options).masked()),
]
SparkOptions = Annotated[
    dict[Annotated[str, Field(pattern=r"^spark\.\S+$")], str],
    AfterValidator(ClientOptions),
    PlainSerializer(lambda options: ClientOptions(options).masked()),
]
