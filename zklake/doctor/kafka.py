"""Are the brokers there, and do they let us in as the settings say? Within 10 s, only reading."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from zklake.doctor.finding import Finding, Subject
from zklake.doctor.reach import INSTALL, quiet_logger, reach_all
from zklake.phrases import format_count


class _Refused(Exception):
    """Brokers that answer, but will not serve us."""


class _Silent(Exception):
    """Brokers that take connections and say nothing."""


def check_log(subject: Subject) -> list[Finding]:
    """The Kafka that keeps the log."""
    own = subject.log
    return [_reach("log", own.bootstrap, own.client, subject.wait_s)] if own else []


def check_watched(subject: Subject) -> list[Finding]:
    """The Kafka that is watched."""
    own = subject.watched
    if own is None or own.bootstrap is None:
        return []
    return [_reach("watched", own.bootstrap, own.client, subject.wait_s)]


def _reach(option: str, bootstrap: str, client: Mapping[str, str], wait_s: float) -> Finding:
    check = f"kafka ({option})"
    start = f"start the brokers, or correct {option}.bootstrap (--{option} HOST:PORT[,...])"
    reach = reach_all(bootstrap, _take_connection, wait_s)
    if not reach.answers:
        return Finding(check, "fail", reach.found, start)
    try:
        bootstrap = ",".join(reach.answers)
        found = f"{bootstrap}: {_count_brokers(bootstrap, client, wait_s)}"
    except ImportError as error:
        return Finding(check, "warn", str(error), INSTALL)
    except _Silent:
        found = f"{bootstrap} accepts connections but does not answer"
        return Finding(check, "fail", found, start)
    except _Refused as error:
        fix = f"correct {option}.client in the settings: security.protocol, sasl.*, ssl.*"
        return Finding(check, "fail", f"{bootstrap} answers but refuses the client: {error}", fix)
    if reach.silence:
        found = "; ".join([found, *reach.silence.values()])
        return Finding(check, "warn", found, "check why these do not answer")
    return Finding(check, "ok", found)


def _take_connection(connection: socket.socket, host: str) -> str:
    return "accepts connections"


def _count_brokers(bootstrap: str, client: Mapping[str, str], wait_s: float) -> str:
    from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415 - only when given
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415

    causes: list[KafkaError] = []
    options: dict[str, Any] = {**client, "bootstrap.servers": bootstrap, "error_cb": causes.append}
    try:
        admin = AdminClient(options, logger=quiet_logger())
    except KafkaException as error:
        raise _Refused(f"these options cannot be used: {error.args[0].str()}") from error
    try:
        metadata = admin.list_topics(timeout=3 * wait_s)
    except KafkaException as error:
        # list_topics only says that it timed out; poll hands over why.
        admin.poll(0)
        if not causes:
            raise _Silent from error
        # Connections that were closed on us are no error to librdkafka until all brokers are down.
        plain = [one.str() for one in causes if one.code() != KafkaError._ALL_BROKERS_DOWN]
        raise _Refused(plain[0] if plain else "it closes the connection") from error
    return f"brokers {sorted(metadata.brokers)}, {format_count(len(metadata.topics), 'topic')}"
