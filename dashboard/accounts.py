"""Who may log in, as which role, and whose credentials these are. Knows no request."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from zklake.roles import Role


@dataclass(frozen=True)
class Account:
    """A name with a password for people, or a token for programs, or both."""

    name: str
    role: Role
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    # Of the user and the token that all share: the log does not name one after the other.
    is_shared: bool = False


class Caller(NamedTuple):
    """Who asks; `who` is None where everybody may."""

    who: str | None
    role: Role
    address: str


class Login(NamedTuple):
    """Credentials that were found right."""

    who: str
    role: Role


def find_login(authorization: str, accounts: Sequence[Account]) -> Login | None:
    """Whose credentials these are; None: nobody's. Every account is compared, whoever it is."""
    scheme, _, credentials = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            found = [
                Login("token" if one.is_shared else f"token {one.name}", one.role)
                for one in accounts
                if one.token is not None and _is_equal(credentials, one.token)
            ]
        case "basic":
            given = _decode(credentials)
            found = [
                Login(f"user {one.name}", one.role)
                for one in accounts
                if one.password is not None and _is_equal(given, f"{one.name}:{one.password}")
            ]
        case _:
            found = []
    return found[0] if found else None


def _is_equal(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _decode(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode()
    except ValueError:  # not in base64, or nothing that UTF-8 could mean
        return ""
