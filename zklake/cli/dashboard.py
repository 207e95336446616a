"""`zklake dashboard`: the lake as web pages, until stopped."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from zklake.cli.options import Cluster, Config, Lake, collect_flags

if TYPE_CHECKING:
    from pydantic import SecretStr

    from dashboard.accounts import Account
    from dashboard.options import Options
    from dashboard.proxy import ProxyOptions
    from zklake.settings.accounts import AccountSettings
    from zklake.settings.dashboard import DashboardSettings
    from zklake.settings.models import Settings

Http = Annotated[
    str | None,
    typer.Option("--http", metavar="HOST:PORT", help="Address to listen on.", show_default=False),
]
WatcherHttp = Annotated[
    str | None,
    typer.Option(
        "--watcher-http",
        metavar="HOST:PORT",
        help="Health address of the watcher, to show whether it is up.",
        show_default=False,
    ),
]
StreamHttp = Annotated[
    str | None,
    typer.Option(
        "--stream-http",
        metavar="HOST:PORT",
        help="Health address of the stream, to show whether it is up.",
        show_default=False,
    ),
]
AuditHttp = Annotated[
    str | None,
    typer.Option(
        "--audit-http",
        metavar="HOST:PORT",
        help="Health address of the auditor, to show what it found.",
        show_default=False,
    ),
]
# More of them nobody reads on a page.
_MOST_ROWS = 1000


def dashboard(
    *,
    lake: Lake = None,
    cluster: Cluster = None,
    http: Http = None,
    watcher_http: WatcherHttp = None,
    stream_http: StreamHttp = None,
    audit_http: AuditHttp = None,
    config: Config = None,
) -> None:
    """Serve the dashboard: web pages over the lake that update as it is written."""
    from zklake.logs import configure_logging
    from zklake.settings.load import load_settings

    given = {
        "dashboard.http": http,
        "dashboard.watcher_http": watcher_http,
        "dashboard.stream_http": stream_http,
        "dashboard.audit_http": audit_http,
    }
    flags = {name: value for name, value in given.items() if value is not None}
    settings = load_settings(config, collect_flags(lake=lake, cluster=cluster) | flags)
    configure_logging()
    from dashboard.app import build_app
    from dashboard.server import listen, serve
    from dashboard.tls import Tls, check_tls

    chosen = settings.dashboard
    tls = Tls(chosen.tls_cert, chosen.tls_key) if chosen.tls_cert and chosen.tls_key else None
    if tls:
        check_tls(tls)
    app = build_app(choose_options(settings))
    taken = listen(chosen.http)
    host = chosen.http.rpartition(":")[0]
    scheme = "https" if tls else "http"
    print(f"{scheme}://{host}:{taken.getsockname()[1]}/", flush=True)
    print(f"the dashboard of {settings.cluster} is up; Ctrl-C stops it", file=sys.stderr)
    # uvicorn ends its answers, and then hands the signal on.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    serve(app, taken, tls)


def choose_options(settings: Settings) -> Options:
    """What the settings say about a dashboard."""
    from dashboard.options import MetricOptions, Options
    from delta_tables.asking.question import Limits

    chosen, query = settings.dashboard, settings.query
    return Options(
        lake=settings.lake.path,
        cluster=settings.cluster,
        user=chosen.user,
        password=_reveal(chosen.password),
        token=_reveal(chosen.token),
        accounts=tuple(_choose_account(one) for one in chosen.accounts),
        proxy=_choose_proxy(chosen),
        allowed_hosts=chosen.allowed_hosts,
        refresh_s=chosen.refresh_s,
        live_connections=chosen.live_connections,
        wrong_logins=chosen.wrong_logins,
        audit_log=chosen.audit_log,
        sql=chosen.sql,
        stale_after_s=chosen.stale_after_s,
        watcher_http=chosen.watcher_http,
        stream_http=chosen.stream_http,
        audit_http=chosen.audit_http,
        limits=Limits(
            timeout_s=query.timeout_s,
            max_rows=min(query.max_rows, _MOST_ROWS),
            memory_bytes=query.memory_bytes,
        ),
        least_rise=query.least_rise,
        alert_rules=settings.alerts.list_rules(),
        alerts_journal=settings.alerts.journal,
        metrics=MetricOptions(**settings.metrics.model_dump()),
    )


def _choose_account(one: AccountSettings) -> Account:
    from dashboard.accounts import Account

    return Account(one.name, one.role, _reveal(one.password), _reveal(one.token))


def _choose_proxy(chosen: DashboardSettings) -> ProxyOptions | None:
    from dashboard.proxy import ProxyOptions

    if chosen.proxy_user_header is None:
        return None
    return ProxyOptions(
        user_header=chosen.proxy_user_header,
        addresses=chosen.proxy_addresses,
        role_header=chosen.proxy_role_header,
        role=chosen.proxy_role,
        secret=_reveal(chosen.proxy_secret),
    )


def _reveal(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
