"""Every setting: its group, type, default and description. No source, no origin, no socket.

The texts under the fields are what docs/settings.md and `zklake config show --json` print.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from zklake.settings.alerts import AlertsSettings
from zklake.settings.audit import AuditSettings
from zklake.settings.dashboard import DashboardSettings
from zklake.settings.group import Group
from zklake.settings.lag import LagSettings
from zklake.settings.maintenance import MaintenanceSettings
from zklake.settings.metrics import MetricsSettings
from zklake.settings.query import QuerySettings
from zklake.settings.values import (
    Client,
    ClientOptions,
    Digest,
    HostPorts,
    Listen,
    Name,
    NamePattern,
    PathPattern,
    SparkOptions,
    ZooKeeperConnect,
)


class ZooKeeperSettings(Group):
    """The ZooKeeper whose tree is watched, and how to get in."""

    connect: ZooKeeperConnect = "127.0.0.1:2181"
    """The ensemble, and the chroot of the Kafka cluster if it has one."""
    session_timeout_ms: Annotated[int, Field(ge=100)] = 30_000
    """Session timeout asked of ZooKeeper, which may grant another."""
    tls: bool = False
    """Connect by TLS."""
    ca_file: Path | None = None
    """PEM file of the CAs that sign the servers' certificates."""
    cert_file: Path | None = None
    """PEM file of our client certificate."""
    key_file: Path | None = None
    """PEM file of the client certificate's key."""
    key_password: SecretStr | None = None
    """Password of that key."""
    check_hostname: bool = True
    """The server's certificate must name the host we connected to."""
    verify_certs: bool = True
    """The server's certificate must be signed by a CA we know."""
    digest: Digest | None = None
    """Digest authentication, as user:password."""
    sasl_mechanism: Literal["DIGEST-MD5", "GSSAPI"] | None = None
    """Authenticate by SASL with this mechanism: DIGEST-MD5 or GSSAPI."""
    sasl_username: str | None = None
    """User of SASL DIGEST-MD5."""
    sasl_password: SecretStr | None = None
    """Password of SASL DIGEST-MD5."""
    sasl_service: str = "zookeeper"
    """Service name in the servers' Kerberos principal."""
    force_one_shot: bool = False
    """Use one-shot watches, as before ZooKeeper 3.6; what they coalesce is declared."""

    @model_validator(mode="after")
    def _hang_together(self) -> Self:
        needs_tls = ("ca_file", "cert_file", "key_file", "key_password")
        lonely = [name for name in needs_tls if getattr(self, name) is not None]
        if lonely and not self.tls:
            raise ValueError(f"{', '.join(lonely)} without tls = true would not be used")
        if self.check_hostname and not self.verify_certs:
            raise ValueError("verify_certs = false needs check_hostname = false too")
        if self.sasl_mechanism == "DIGEST-MD5" and not (self.sasl_username and self.sasl_password):
            raise ValueError("DIGEST-MD5 needs sasl_username and sasl_password")
        return self


class LogSettings(Group):
    """The Kafka that holds the log: our topics, not the watched cluster's."""

    bootstrap: HostPorts = "127.0.0.1:9092"
    """Brokers of the log's Kafka (0.11 or later)."""
    client: Client = ClientOptions()
    """librdkafka options for it: security.protocol, sasl.*, ssl.*; the stream translates them."""
    replication_factor: PositiveInt | None = None
    """Replicas of our topics; not set: min(3, brokers)."""


class WatchedSettings(Group):
    """The brokers of the watched cluster, asked for log ends and Kafka-stored groups."""

    bootstrap: HostPorts | None = None
    """Brokers of the watched cluster; not set: found in /brokers/ids."""
    client: Client = ClientOptions()
    """librdkafka options for them: security.protocol, sasl.*, ssl.*."""
    exclude_topics: tuple[NamePattern, ...] = ("__consumer_offsets", "__transaction_state")
    """Topics whose log ends are not sampled; `*` is any part of a name. Ours never are."""
    groups: tuple[NamePattern, ...] = ("*",)
    """Kafka-stored groups that are followed; `*` is any part of a name."""
    exclude_groups: tuple[NamePattern, ...] = ()
    """Of those, the ones that are not."""


class WatcherSettings(Group):
    """`zklake watch`: bounds, pace, and what may leave the process."""

    buffer_bytes: Annotated[int, Field(ge=1 << 20)] = 64 << 20
    """Bytes of events held, for Kafka or for their values; past that we let go of ZooKeeper."""
    reads_in_flight: PositiveInt = 1000
    """Unanswered ZooKeeper reads at a time."""
    batch_events: PositiveInt = 5000
    """Events in one Kafka transaction at most."""
    http: Listen = "127.0.0.1:9464"
    """Where /healthz, /readyz and /metrics answer."""
    frame_interval_s: PositiveInt = 86_400
    """Seconds between base frames."""
    audit_reads_per_second: Annotated[int, Field(ge=0)] = 50
    """Pace of the audit that re-reads the tree; 0 turns it off."""
    once_patience_s: PositiveInt = 60
    """With --once: seconds without ZooKeeper or Kafka after which it gives up."""
    takeover_after_ms: Annotated[int, Field(ge=1000)] = 10_000
    """A standby takes over after this long without a heartbeat; they come each second."""
    publish_paths: tuple[PathPattern, ...] = ()
    """Patterns of paths outside Kafka's tree whose data is published too."""
    redact_paths: tuple[PathPattern, ...] = ()
    """Patterns of paths whose data is withheld, beside the built-in ones."""
    publish_config_keys: tuple[NamePattern, ...] = ()
    """Config keys (`*` is any part) whose values are published beside those of Kafka's own list."""
    hash_key_file: Path | None = None
    """File with the key of the hash that stands for withheld data."""
    sampling: bool = True
    """Ask the watched brokers for log ends and Kafka-stored groups."""
    sample_interval_s: Annotated[int, Field(ge=1)] = 10
    """Seconds from one sampling round to the next."""
    max_record_bytes: Annotated[int, Field(ge=1000, le=2 << 20)] = 900_000
    """Znodes that make a larger record are published as oversize, without data."""


class LakeSettings(Group):
    """Where the Delta tables are."""

    path: Annotated[str, Field(min_length=1)] = "./lake"
    """The tables are <path>/<cluster>/<table>."""


class StreamSettings(Group):
    """`zklake stream`: the fold from the log into the lake."""

    clusters: tuple[Name, ...] = ()
    """Clusters whose logs are folded, one query each, in one process; not set: `cluster`."""
    trigger_ms: Annotated[int, Field(ge=0)] = 200
    """Time from the start of a batch to the next at least."""
    max_offsets_per_trigger: PositiveInt = 100_000
    """Records in one batch at most."""
    task_records: PositiveInt = 50_000
    """From so many records on, a batch is folded in Spark tasks; a rebuild from ten times that."""
    master: Annotated[str, Field(pattern=r"^\S+$")] = "local[*]"
    """Spark's master: local[N] (N cores of this machine), or that of a cluster."""
    spark: SparkOptions = ClientOptions()
    """More of Spark's own settings, by name, such as spark.executor.memory."""
    checkpoint: Annotated[str, Field(min_length=1)] | None = None
    """Where Spark's checkpoint of one run lies; not set: in the temporary directory."""
    http: Listen = "127.0.0.1:9465"
    """Where /healthz, /readyz and /metrics answer."""
    driver_memory: Annotated[str, Field(pattern=r"^[1-9]\d*[mg]$")] = "2g"
    """Heap of the driver's JVM."""
    lease_stale_s: Annotated[int, Field(ge=3)] = 30
    """A lease on the lake that was not renewed for so long is taken."""
    rebalance_quiet_ms: PositiveInt = 2500
    """A settled rebalance is over after so long without anything: 2 s of backoff, and latency."""
    rebalance_fail_ms: PositiveInt = 10_000
    """One that is not settled has failed after so long: 4 tries of 2 s, and latency."""
    stuck_after_s: PositiveInt = 900
    """/healthz fails when no batch ended for so long although the log has news."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len(set(self.clusters)) < len(self.clusters):
            raise ValueError("clusters: each may be named once")
        return self


class Settings(BaseSettings):
    """All settings; built by zklake.settings.load, which alone knows the sources."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )

    cluster: Name = "kafka"
    """Name of the watched cluster, in topics and in the lake."""
    zookeeper: ZooKeeperSettings = ZooKeeperSettings()
    log: LogSettings = LogSettings()
    watched: WatchedSettings = WatchedSettings()
    watcher: WatcherSettings = WatcherSettings()
    lake: LakeSettings = LakeSettings()
    stream: StreamSettings = StreamSettings()
    lag: LagSettings = LagSettings()
    maintenance: MaintenanceSettings = MaintenanceSettings()
    query: QuerySettings = QuerySettings()
    dashboard: DashboardSettings = DashboardSettings()
    metrics: MetricsSettings = MetricsSettings()
    alerts: AlertsSettings = AlertsSettings()
    audit: AuditSettings = AuditSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what load hands over: the library's own sources pass unknown names in silence."""
        return (init_settings,)
