"""Checks of the servers whose addresses were given. Each answers within 10 s, and only reads."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zklake.doctor.finding import Finding, Subject

_INSTALL = "pip install 'zklake[watcher]' to see more than an open port"


def check_zookeeper(subject: Subject) -> list[Finding]:
    """The servers answer `srvr`, a session opens, and the chroot is there to be read."""
    if not subject.zookeeper:
        return []
    servers, _, path = subject.zookeeper.partition("/")
    dead, alive = _ask_all(servers, 2181, _ask_srvr, subject.wait_s)
    if not alive:
        fix = "start ZooKeeper, or correct --zookeeper HOST:PORT[,...][/chroot]"
        return [Finding("zookeeper", "fail", "; ".join(dead), fix)]
    found = "; ".join([*alive, *dead])
    try:
        problem = _read_chroot(servers, f"/{path.strip('/')}", subject.wait_s)
    except ImportError as error:
        return [Finding("zookeeper", "warn", f"{found}; {error}", _INSTALL)]
    if problem is not None:
        return [Finding("zookeeper", "fail", f"{found}; {problem[0]}", problem[1])]
    if dead:
        return [Finding("zookeeper", "warn", found, "see why these servers do not answer")]
    return [Finding("zookeeper", "ok", found)]


def check_log(subject: Subject) -> list[Finding]:
    """The Kafka that keeps the log."""
    return _reach_kafka("log", subject.log, subject.wait_s)


def check_watched(subject: Subject) -> list[Finding]:
    """The Kafka that is watched."""
    return _reach_kafka("watched", subject.watched, subject.wait_s)


def _reach_kafka(option: str, bootstrap: str | None, wait_s: float) -> list[Finding]:
    if not bootstrap:
        return []
    check = f"kafka ({option})"
    fix = f"start the brokers, or correct --{option} HOST:PORT[,...]"
    dead, alive = _ask_all(bootstrap, 9092, _connect, wait_s)
    if not alive:
        return [Finding(check, "fail", "; ".join(dead), fix)]
    try:
        found = f"{bootstrap}: {_count_brokers(bootstrap, wait_s)}"
    except ImportError as error:
        return [Finding(check, "warn", str(error), _INSTALL)]
    except ConnectionError as error:
        return [Finding(check, "fail", f"{bootstrap} takes connections but: {error}", fix)]
    if dead:
        return [Finding(check, "warn", "; ".join([found, *dead]), "see why these do not answer")]
    return [Finding(check, "ok", found)]


def _count_brokers(bootstrap: str, wait_s: float) -> str:
    from confluent_kafka import KafkaException  # noqa: PLC0415 - only when an address is given
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415

    causes: list[str] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "error_cb": lambda error: causes.append(error.str()),
    }
    client = AdminClient(settings, logger=_quiet_logger())
    try:
        metadata = client.list_topics(timeout=3 * wait_s)
    except KafkaException as error:
        # list_topics only says that it timed out; poll hands over why.
        client.poll(0)
        raise ConnectionError(causes[0] if causes else error.args[0].str()) from error
    return f"brokers {sorted(metadata.brokers)}, {len(metadata.topics)} topics"


def _read_chroot(servers: str, chroot: str, wait_s: float) -> tuple[str, str] | None:
    """None when the chroot can be read, else what is wrong and what to do."""
    from kazoo.client import KazooClient  # noqa: PLC0415 - only when an address is given
    from kazoo.exceptions import KazooException, NoAuthError, NoNodeError  # noqa: PLC0415
    from kazoo.handlers.threading import KazooTimeoutError  # noqa: PLC0415
    from kazoo.retry import KazooRetry  # noqa: PLC0415

    # kazoo's own default waits up to 3600 s between tries.
    retry = KazooRetry(max_tries=3, delay=0.2, max_delay=1.0)
    client = KazooClient(servers, timeout=wait_s, connection_retry=retry, logger=_quiet_logger())
    try:
        client.start(timeout=wait_s)
        client.get_children_async(chroot).get(timeout=wait_s)
    except NoNodeError:
        return f"the chroot {chroot} does not exist", "correct the path after HOST:PORT"
    except NoAuthError:
        return f"{chroot} may not be read", "grant this client the read ACL on it"
    except (KazooException, KazooTimeoutError) as error:
        cause = str(error) or type(error).__name__
        return f"no session ({cause})", "see ZooKeeper's log, maxClientCnxns and its quorum"
    finally:
        client.stop()
        client.close()
    return None


def _quiet_logger() -> logging.Logger:
    """For clients that log every try: what matters of it stands in the finding."""
    quiet = logging.getLogger("zklake.doctor.quiet")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    return quiet


def _ask_all(
    addresses: str, port: int, ask: Callable[[str, int, float], str], wait_s: float
) -> tuple[list[str], list[str]]:
    """All addresses at once: what the dead failed with, what the living answered."""

    def attempt(address: str) -> tuple[bool, str]:
        host, _, given = address.strip().rpartition(":")
        try:
            target = (host.strip("[]"), int(given)) if host else (given, port)
            return True, f"{address}: {ask(*target, wait_s)}"
        except (OSError, ValueError, OverflowError) as error:
            return False, f"{address}: {getattr(error, 'strerror', None) or error}"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(attempt, addresses.split(",")))
    return [text for ok, text in answers if not ok], [text for ok, text in answers if ok]


def _connect(host: str, port: int, wait_s: float) -> str:
    with socket.create_connection((host, port), wait_s):
        return "takes connections"


def _ask_srvr(host: str, port: int, wait_s: float) -> str:
    with socket.create_connection((host, port), wait_s) as server:
        server.sendall(b"srvr")
        with server.makefile("r", encoding="utf-8", errors="replace") as answer:
            lines = answer.read().splitlines()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    if "Mode" in fields:
        return f"{fields['Zookeeper version'].split('-')[0]} {fields['Mode']}"
    text = lines[0] if lines else "closed the connection without an answer"
    # Not a fault: the server runs, but srvr is not in its 4lw.commands.whitelist.
    if "whitelist" in text:
        return "srvr not allowed"
    raise OSError(text)
