"""A reverse proxy that logs people in and hands over who they are, in a header.

Anybody can send a header. So it counts only from the proxy's own addresses and, where one is set,
with the secret that only the proxy knows; from elsewhere it is ignored, and that is logged.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network

import structlog
from starlette.datastructures import Headers

from dashboard.accounts import Login
from zklake.roles import Role

_LOG = structlog.get_logger()
SECRET_HEADER = "x-zklake-proxy-secret"  # noqa: S105
_FORWARDED = "x-forwarded-for"
_MOST_CHARACTERS = 200
# Strangers must not fill a disk with what they forge.
_LINES_A_MINUTE, _MINUTE_S = 60, 60.0


@dataclass(frozen=True)
class ProxyOptions:
    """See zklake/settings/dashboard.py, whose names these are."""

    user_header: str
    # Addresses and networks, as text.
    addresses: tuple[str, ...]
    role_header: str | None = None
    role: Role = "viewer"
    secret: str | None = field(default=None, repr=False)


class Proxy:
    """Reads what the proxy says of a request. For one event loop: nothing here is locked."""

    def __init__(self, options: ProxyOptions, now: Callable[[], float] = time.monotonic) -> None:
        self._options, self._now = options, now
        self._networks = [ip_network(one, strict=False) for one in options.addresses]
        ours = (options.user_header, options.role_header, SECRET_HEADER)
        self._ours = tuple(name.lower() for name in ours if name)
        self._minute, self._lines = now(), 0

    def is_trusted(self, address: str, headers: Headers) -> bool:
        """Whether a request comes from the proxy; who only pretends so is logged."""
        is_near = self._is_ours(address)
        secret = self._options.secret
        knows = secret is None or _is_one(headers.getlist(SECRET_HEADER), secret)
        if is_near and knows:
            return True
        pretends = [name for name in self._ours if name in headers]
        if pretends and self._may_log():
            why = "the proxy's secret is missing or wrong" if is_near else "no address of a proxy"
            _LOG.warning("a proxy header was ignored", address=address, header=pretends, why=why)
        return False

    def find_user(self, headers: Headers) -> Login | None:
        """Whom the proxy has logged in; None when it says nobody, or more than one."""
        names = headers.getlist(self._options.user_header)
        name = _read_text(names[0]) if len(names) == 1 else ""
        if not name or len(name) > _MOST_CHARACTERS or not name.isprintable():
            return None
        return Login(f"user {name}", self._find_role(headers))

    def _find_role(self, headers: Headers) -> Role:
        """The role header may list groups; a proxy that sends none leaves it to the settings."""
        given = headers.getlist(self._options.role_header) if self._options.role_header else []
        if not given:
            return self._options.role
        words = {word.strip().lower() for text in given for word in text.split(",")}
        return "analyst" if len(given) == 1 and "analyst" in words else "viewer"

    def find_address(self, address: str, headers: Headers) -> str:
        """For whom the proxy asks: the last that it names; the others anybody could write."""
        last = ",".join(headers.getlist(_FORWARDED)).rpartition(",")[2].strip()
        try:
            return str(ip_address(last))
        except ValueError:
            return address

    def _is_ours(self, address: str) -> bool:
        try:
            known = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(known, IPv6Address) and known.ipv4_mapped is not None:
            known = known.ipv4_mapped
        return any(known in network for network in self._networks)

    def _may_log(self) -> bool:
        if self._now() - self._minute >= _MINUTE_S:
            self._minute, self._lines = self._now(), 0
        self._lines += 1
        return self._lines <= _LINES_A_MINUTE


def _is_one(given: list[str], wanted: str) -> bool:
    return len(given) == 1 and hmac.compare_digest(given[0].encode(), wanted.encode())


def _read_text(value: str) -> str:
    """Headers are bytes, and Starlette reads them as Latin-1: most proxies mean UTF-8."""
    try:
        return value.encode("latin-1").decode().strip()
    except UnicodeError:
        return ""
