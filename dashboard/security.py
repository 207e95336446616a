"""Who may ask, and what a browser may do with the answer. Knows no page.

A page elsewhere can make a browser ask this machine. Three things keep it out: the Host must be one
that no stranger's DNS can claim, requests that another site started may only open a page, and the
policy lets a page load and contact nothing but this server.
"""

from __future__ import annotations

import math
from ipaddress import ip_address

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.accounts import Caller, Login, find_login
from dashboard.audit import AuditLog
from dashboard.options import Options
from dashboard.proxy import Proxy
from dashboard.throttle import Throttle

_LOG = structlog.get_logger()
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

    def __init__(self, app: ASGIApp, options: Options, audit: AuditLog) -> None:
        self._app, self._options, self._audit = app, options, audit
        self._throttle = Throttle(options.wrong_logins)
        self._proxy = Proxy(options.proxy) if options.proxy else None

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

        refused = self._refuse(scope, Headers(scope=scope))
        await (refused or self._app)(scope, receive, send_guarded)

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        path = scope["path"]
        if not is_allowed_host(headers.get("host", ""), self._options.allowed_hosts):
            return _refuse(
                path,
                421,
                "this name is not known here: open the dashboard by its address, or add the name "
                "to dashboard.allowed_hosts",
            )
        if is_foreign(headers):
            return _refuse(path, 403, "another site may only link to a page")
        if path in _OPEN:
            return None
        return self._check_login(scope, headers)

    def _check_login(self, scope: Scope, headers: Headers) -> Response | None:
        """None for who may go on; `caller` of the request's state says who that is."""
        address = find_address(scope)
        proxy = self._proxy
        if proxy and proxy.is_trusted(address, headers):
            address = proxy.find_address(address, headers)
            if user := proxy.find_user(headers):
                self._let_in(scope, user, address, "proxy")
                return None
        if not self._options.wants_login:
            # Everybody who can reach it is whoever they want to be.
            _set_caller(scope, Caller(None, "analyst", address))
            return None
        return self._check_credentials(scope, headers.get("authorization", ""), address)

    def _check_credentials(self, scope: Scope, given: str, address: str) -> Response | None:
        path, scheme = scope["path"], _name_scheme(given)
        # Before it is looked at: else the right one would be found out all the same.
        wait = self._throttle.find_wait(address) if given else 0
        if wait:
            refused = _refuse(path, 429, "too many wrong logins: wait a minute")
            refused.headers["retry-after"] = str(math.ceil(wait))
            return refused
        login = find_login(given, self._options.all_accounts)
        if login is not None:
            self._let_in(scope, login, address, scheme)
            return None
        if given:
            self._note_wrong(address, scheme)
        refused = _refuse(path, 401, self._explain_login())
        if self._options.all_accounts:
            refused.headers["www-authenticate"] = 'Basic realm="zklake", charset="UTF-8"'
        return refused

    def _explain_login(self) -> str:
        if not self._options.all_accounts:
            return "log in at the reverse proxy in front of the dashboard: it knows who you are"
        return "needs a user and password, or a token, from the dashboard's settings"

    def _let_in(self, scope: Scope, login: Login, address: str, by: str) -> None:
        _set_caller(scope, Caller(login.who, login.role, address))
        if self._throttle.note_right(address, login.who):
            self._audit.note("login", login.who, address, by, "right", role=login.role)

    def _note_wrong(self, address: str, scheme: str) -> None:
        # Not the name that was given: some type their password there.
        is_held_back = self._throttle.note_wrong(address)
        outcome = "wrong, and held back" if is_held_back else "wrong"
        _LOG.warning("a wrong login", address=address, by=scheme, is_held_back=is_held_back)
        self._audit.note("login", None, address, scheme, outcome)


def _set_caller(scope: Scope, caller: Caller) -> None:
    scope.setdefault("state", {})["caller"] = caller


def find_caller(scope: Scope) -> Caller:
    """Who asks; at addresses that ask nobody, and before anybody was asked, a viewer."""
    found = scope.get("state", {}).get("caller")
    return found if isinstance(found, Caller) else Caller(None, "viewer", find_address(scope))


def find_address(scope: Scope) -> str:
    """Where a request comes from."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _name_scheme(authorization: str) -> str:
    scheme = authorization.partition(" ")[0].lower()
    return {"basic": "password", "bearer": "token"}.get(scheme, "something else")


def _refuse(path: str, status: int, text: str) -> Response:
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
