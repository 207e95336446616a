"""From settings to a daemon: which setting reaches which part. Opens nothing by itself."""

from __future__ import annotations

import structlog

from watcher.daemon import Daemon
from watcher.hash_key import load_hash_key
from watcher.loop import Limits
from watcher.outlet import KafkaLog, Log, PrintedLog
from watcher.sampling.sampler import Plan
from watcher.sealing import Sealing
from watcher.zookeeper.inbox import Inbox
from watcher.zookeeper.session import ZooKeeperSession
from zklake.events.redaction import Redactor
from zklake.name_patterns import OUR_TOPICS, Names
from zklake.settings.models import Settings


def build_daemon(
    settings: Settings,
    *,
    dry_run: bool = False,
    once: bool = False,
    resnapshot: bool = False,
    take_over: bool = False,
    accept_cluster: bool = False,
    serves: bool = True,
) -> Daemon:
    """A daemon that has not touched the network yet."""
    return Daemon(
        settings.cluster,
        lambda inbox, floor: _open_session(settings, inbox, floor),
        lambda daemon: _open_log(settings, daemon, dry_run=dry_run, once=once, take_over=take_over),
        build_sealing(settings, keeps=not dry_run),
        _build_limits(settings, once=once),
        sampling=_build_plan(settings) if settings.watcher.sampling and not once else None,
        http=settings.watcher.http if serves else None,
        once_patience_s=settings.watcher.once_patience_s if once else None,
        resnapshot=resnapshot,
        accept_cluster=accept_cluster,
    )


def _open_session(settings: Settings, inbox: Inbox, floor: int) -> ZooKeeperSession:
    own = settings.zookeeper
    sasl = None
    if own.sasl_mechanism is not None:
        sasl = {"mechanism": own.sasl_mechanism, "service": own.sasl_service}
        if own.sasl_username and own.sasl_password:
            sasl["username"] = own.sasl_username
            sasl["password"] = own.sasl_password.get_secret_value()
    return ZooKeeperSession(
        own.connect,
        inbox,
        session_timeout_ms=own.session_timeout_ms,
        auth=[("digest", own.digest.get_secret_value())] if own.digest else [],
        sasl=sasl,
        tls=own.tls,
        tls_ca=str(own.ca_file) if own.ca_file else None,
        tls_certfile=str(own.cert_file) if own.cert_file else None,
        tls_keyfile=str(own.key_file) if own.key_file else None,
        tls_keyfile_password=own.key_password.get_secret_value() if own.key_password else None,
        tls_verify=own.verify_certs,
        tls_check_hostname=own.check_hostname,
        zxid_floor=floor,
    )


def _open_log(
    settings: Settings, daemon: Daemon, *, dry_run: bool, once: bool, take_over: bool
) -> Log:
    if dry_run:
        return PrintedLog()
    warn = structlog.get_logger().warning
    return KafkaLog(
        settings.log.bootstrap,
        settings.log.client,
        settings.cluster,
        replication_factor=settings.log.replication_factor,
        takeover_after_ms=settings.watcher.takeover_after_ms,
        take_over=take_over,
        once_patience_s=settings.watcher.once_patience_s if once else None,
        on_state=daemon.note_log,
        on_abort=daemon.metrics.aborts.inc,
        on_standby=daemon.note_standby,
        on_warning=lambda warning: warn("topic", warning=warning),
        stopping=daemon.stop.is_set,
        giving_up=daemon.give_up.is_set,
    )


def build_sealing(settings: Settings, *, keeps: bool = True) -> Sealing:
    """What may leave the process, and under which hash key."""
    own = settings.watcher
    key = load_hash_key(own.hash_key_file, keeps=keeps)
    redactor = Redactor(key, own.publish_paths, own.redact_paths, own.publish_config_keys)
    return Sealing(redactor, own.max_record_bytes)


def _build_plan(settings: Settings) -> Plan:
    watched = settings.watched
    return Plan(
        settings.watcher.sample_interval_s,
        settings.watcher.frame_interval_s,
        watched.bootstrap,
        dict(watched.client),
        Names(exclude=(OUR_TOPICS, *watched.exclude_topics)),
        Names(watched.groups, watched.exclude_groups),
    )


def _build_limits(settings: Settings, *, once: bool) -> Limits:
    own = settings.watcher
    return Limits(
        buffer_bytes=own.buffer_bytes,
        reads_in_flight=own.reads_in_flight,
        batch_events=own.batch_events,
        frame_interval_s=own.frame_interval_s,
        # One look is wanted, not a second one.
        audit_reads_per_second=0 if once else own.audit_reads_per_second,
        force_one_shot=settings.zookeeper.force_one_shot,
    )
