"""A dashboard's options at its start. Plain values: no settings, no sockets."""

from __future__ import annotations

from dataclasses import dataclass, field

from dashboard.accounts import Account
from dashboard.dialects.burrow.evaluation import Rules
from dashboard.proxy import ProxyOptions
from delta_tables.asking.question import Limits
from zklake.settings.alert_rules import RULES, Rule


@dataclass(frozen=True)
class MetricOptions:
    """What /metrics shows: see zklake/settings/metrics.py, whose names these are."""

    sets: tuple[str, ...] = ("zklake",)
    detail: str = "groups"
    top: int = 0
    only_bad: bool = False
    groups: tuple[str, ...] = ("*",)
    exclude_groups: tuple[str, ...] = ()
    topics: tuple[str, ...] = ("*",)
    exclude_topics: tuple[str, ...] = ()
    member_labels: bool = False
    most_series: int = 50_000


@dataclass(frozen=True)
class Options:
    """One lake, who may see it, and how often it is looked at."""

    lake: str
    cluster: str
    user: str = ""
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    # Beside the one above, who may do everything.
    accounts: tuple[Account, ...] = ()
    proxy: ProxyOptions | None = None
    allowed_hosts: tuple[str, ...] = ()
    refresh_s: float = 2.0
    live_connections: int = 500
    # A minute and address; 0: any number.
    wrong_logins: int = 10
    audit_log: str | None = None
    # Whether the page SQL is there.
    sql: bool = True
    stale_after_s: float = 150.0
    watcher_http: str | None = None
    stream_http: str | None = None
    audit_http: str | None = None
    # Of one question on the SQL page.
    limits: Limits = field(
        default_factory=lambda: Limits(timeout_s=20, max_rows=1000, memory_bytes=1 << 30)
    )
    # Rises of lag by fewer records are noise.
    least_rise: int = 100
    # What the page Alerts shows: the rules, and the file in which `zklake alerts run` keeps what it
    # has sent.
    alert_rules: tuple[Rule, ...] = tuple(rule() for rule in RULES)
    alerts_journal: str | None = None
    metrics: MetricOptions = field(default_factory=MetricOptions)
    # How the answers in Burrow's shape judge a group: its own defaults.
    burrow: Rules = field(default_factory=Rules)

    @property
    def all_accounts(self) -> tuple[Account, ...]:
        """Everybody who may log in here."""
        if self.password is None and self.token is None:
            return self.accounts
        shared = Account(self.user, "analyst", self.password, self.token, is_shared=True)
        return (shared, *self.accounts)

    @property
    def wants_login(self) -> bool:
        """Whether strangers are kept out."""
        return bool(self.all_accounts) or self.proxy is not None
