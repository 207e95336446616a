"""Who may ask, and what a browser may do with the answer. Knows no page.

A page elsewhere can make a browser ask this machine. Three things keep it out: the Host must be one
that no stranger's DNS can claim, requests that another site started may only open a page, and the
policy lets a page load and contact nothing but this server.
"""

from __future__ import annotations

import base64
import hmac
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.options import Options

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_OPEN = ("/healthz", "/readyz")


class Guard:
    """Answers instead of the pages where something is wrong with a request."""

    def __init__(self, app: ASGIApp, options: Options) -> None:
        self._app, self._options = app, options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self._refuse(scope["path"], Headers(scope=scope))
        await (refused or self._app)(scope, receive, send_guarded)

    def _refuse(self, path: str, headers: Headers) -> Response | None:
        if not is_allowed_host(headers.get("host", ""), self._options.allowed_hosts):
            return _say(
                path,
                421,
                "this name is not known here: open the dashboard by its address, or add the name "
                "to dashboard.allowed_hosts",
            )
        if is_foreign(headers):
            return _say(path, 403, "another site may only link to a page")
        given = headers.get("authorization", "")
        if path not in _OPEN and not _is_authorized(given, self._options):
            text = "want the user and password, or the token, of the dashboard's settings"
            refused = _say(path, 401, text)
            refused.headers["www-authenticate"] = 'Basic realm="zklake", charset="UTF-8"'
            return refused
        return None


def _say(path: str, status: int, text: str) -> Response:
    if path.startswith("/api/"):
        return JSONResponse({"error": text}, status)
    return PlainTextResponse(f"{text}\n", status)


def is_allowed_host(host: str, allowed: tuple[str, ...]) -> bool:
    """An address, localhost or a name of the settings: DNS rebinding needs a name of its own."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    name = name.lower()
    if name == "localhost" or name in (one.lower() for one in allowed):
        return True
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def is_foreign(headers: Headers) -> bool:
    """Whether another site made the browser ask, and not by a link that somebody followed."""
    site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
    return site in ("cross-site", "same-site") and mode != "navigate"


def _is_authorized(authorization: str, options: Options) -> bool:
    if options.password is None and options.token is None:
        return True
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() == "bearer" and options.token is not None:
        return _is_equal(credentials, options.token)
    if scheme.lower() == "basic" and options.password is not None:
        return _is_equal(_decode(credentials), f"{options.user}:{options.password}")
    return False


def _is_equal(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _decode(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode()
    except ValueError:  # not in base64, or nothing that UTF-8 could mean
        return ""
