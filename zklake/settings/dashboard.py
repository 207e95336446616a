"""The settings of the dashboard: where it answers, to whom, and whose health it shows."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Annotated, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from zklake.roles import Role
from zklake.settings.accounts import AccountSettings, check_accounts
from zklake.settings.group import Group
from zklake.settings.values import HeaderName, Listen, Network, SharedSecret


class DashboardSettings(Group):
    """`zklake dashboard`."""

    http: Listen = "127.0.0.1:8080"
    """Where the dashboard answers; beyond this machine only with a password or a token."""
    user: Annotated[str, Field(min_length=1)] = "zklake"
    """User of basic authentication; it is asked for when a password is set."""
    password: SharedSecret | None = None
    """Password of basic authentication; 12 characters or more."""
    token: SharedSecret | None = None
    """Bearer token that programs may send instead; 12 characters or more."""
    accounts: tuple[AccountSettings, ...] = ()
    """More users and tokens, each with a role, as tables [[dashboard.accounts]]."""
    proxy_user_header: HeaderName | None = None
    """Header in which a reverse proxy says whom it has logged in; not set: none is believed."""
    proxy_role_header: HeaderName | None = None
    """Header in which it says their role: `analyst` among its words, else they are a viewer."""
    proxy_role: Role = "viewer"
    """Role of those for whom the proxy sends no role."""
    proxy_addresses: tuple[Network, ...] = ()
    """Addresses and networks of the proxy; its headers are ignored from anywhere else."""
    proxy_secret: SharedSecret | None = None
    """What the proxy must also send, as `X-Zklake-Proxy-Secret`; 12 characters or more."""
    wrong_logins: NonNegativeInt = 10
    """Wrong logins a minute that an address may make before none is looked at; 0: any number."""
    audit_log: Annotated[str, Field(min_length=1)] | None = None
    """File to which logins, queries and exports are appended, as JSON lines; not set: none."""
    sql: bool = True
    """Whether the page SQL, and `/api/sql`, is there."""
    tls_cert: Annotated[str, Field(min_length=1)] | None = None
    """PEM file with the certificate, and those between it and its root: answer by HTTPS."""
    tls_key: Annotated[str, Field(min_length=1)] | None = None
    """PEM file with the key of `tls_cert`, without a passphrase."""
    allowed_hosts: tuple[str, ...] = ()
    """Names by which browsers may reach it, beside localhost and plain addresses."""
    refresh_s: PositiveFloat = 2.0
    """Time between two looks at the lake while a page is open."""
    live_connections: PositiveInt = 500
    """Open pages that may follow the lake at once; one more stays as it is until it is reloaded."""
    stale_after_s: PositiveFloat = 150.0
    """The lake counts as stale when its last event is older; a quiet one gets an event a minute."""
    watcher_http: Listen | None = None
    """The watcher's `watcher.http`, to show whether it is up."""
    stream_http: Listen | None = None
    """The stream's `stream.http`, to show whether it is up."""
    audit_http: Listen | None = None
    """The auditor's `audit.http`, to show on Data quality what it found."""

    @model_validator(mode="after")
    def _keep_strangers_out(self) -> Self:
        is_open = not (self.password or self.token or self.accounts or self.proxy_user_header)
        if is_open and not is_loopback(self.http):
            raise ValueError("http beyond this machine needs a password or a token")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key belong together")
        check_accounts(self.accounts, self.user, self.token)
        return self

    @model_validator(mode="after")
    def _know_the_proxy(self) -> Self:
        if self.proxy_user_header is None:
            if self.proxy_role_header or self.proxy_addresses or self.proxy_secret:
                raise ValueError("what the proxy says counts only with proxy_user_header")
            return self
        if not self.proxy_addresses:
            raise ValueError("proxy_user_header needs proxy_addresses: anybody can send a header")
        if self.proxy_secret is None and any(map(is_everywhere, self.proxy_addresses)):
            raise ValueError("proxy_addresses are all addresses: then proxy_secret must be set")
        return self


def is_everywhere(network: str) -> bool:
    """Whether it has every address."""
    return ip_network(network, strict=False).prefixlen == 0


def is_loopback(listen: str) -> bool:
    """Whether only this machine can reach HOST:PORT."""
    host = listen.rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
