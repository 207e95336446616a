"""Is ZooKeeper there, and does it let us in as the settings say? Within 10 s, and only reading."""

from __future__ import annotations

import socket
import ssl
from typing import Any

from zklake.doctor.finding import Finding, Subject
from zklake.doctor.reach import INSTALL, Reach, quiet_logger, reach_all
from zklake.settings.models import ZooKeeperSettings
from zklake.zookeeper_sasl import find_missing

_START = "start ZooKeeper, or correct zookeeper.connect (--zookeeper HOST:PORT[,...][/chroot])"
_TLS = "correct zookeeper.ca_file, cert_file, key_file and check_hostname in the settings"
_NO_TLS = "if this port requires TLS, set zookeeper.tls = true; else see ZooKeeper's log"
_SASL = "correct zookeeper.sasl_mechanism, sasl_username and sasl_password; see ZooKeeper's log"
_NO_SESSION = "see ZooKeeper's log, its quorum, maxClientCnxns, and whether it asks for SASL"


def check_zookeeper(subject: Subject) -> list[Finding]:
    """The servers answer `srvr`, a session opens, and the chroot is there to be read."""
    own = subject.zookeeper
    if own is None:
        return []
    try:
        context = _build_context(own) if own.tls else None
    except OSError as error:
        found = f"the files for TLS cannot be used: {error.strerror or error}"
        return [Finding("zookeeper", "fail", found, _TLS)]
    servers, _, path = own.connect.partition("/")
    reach = reach_all(
        servers, lambda connection, host: _ask_srvr(connection, host, context), subject.wait_s
    )
    return [_judge(own, reach, f"/{path}", subject.wait_s)]


def _judge(own: ZooKeeperSettings, reach: Reach, chroot: str, wait_s: float) -> Finding:
    if not reach.answers:
        refused = _TLS if own.tls else _NO_TLS
        return Finding("zookeeper", "fail", reach.found, refused if reach.refusals else _START)
    try:
        problem = _read_chroot(own, chroot, wait_s)
    except ImportError as error:
        return Finding("zookeeper", "warn", f"{reach.found}; {error}", INSTALL)
    if problem is not None:
        return Finding("zookeeper", "fail", f"{reach.found}; {problem[0]}", problem[1])
    if reach.refusals or reach.silence:
        return Finding("zookeeper", "warn", reach.found, "check the servers named last")
    return Finding("zookeeper", "ok", reach.found)


def _build_context(own: ZooKeeperSettings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=own.ca_file)
    context.check_hostname = own.check_hostname
    context.verify_mode = ssl.CERT_REQUIRED if own.verify_certs else ssl.CERT_NONE
    if own.cert_file:
        # Without any, OpenSSL would ask for it on the terminal.
        password = own.key_password.get_secret_value() if own.key_password else ""
        context.load_cert_chain(own.cert_file, own.key_file, password)
    return context


def _ask_srvr(connection: socket.socket, host: str, context: ssl.SSLContext | None) -> str:
    if context is not None:
        with context.wrap_socket(connection, server_hostname=host) as secured:
            return _ask_srvr(secured, host, None)
    connection.sendall(b"srvr")
    with connection.makefile("r", encoding="utf-8", errors="replace") as answer:
        lines = answer.read().splitlines()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    if "Mode" in fields:
        return f"{fields['Zookeeper version'].split('-')[0]} {fields['Mode']}"
    text = lines[0] if lines else "closed the connection without an answer"
    # Not a fault: the server runs, but srvr is not in its 4lw.commands.whitelist.
    if "whitelist" in text:
        return "srvr not allowed"
    raise OSError(text)


def _read_chroot(own: ZooKeeperSettings, chroot: str, wait_s: float) -> tuple[str, str] | None:
    """None when the chroot can be read, else what is wrong and what to do."""
    from kazoo.client import KazooClient  # noqa: PLC0415 - only when an address is given
    from kazoo.exceptions import KazooException, NoAuthError, NoNodeError  # noqa: PLC0415
    from kazoo.handlers.threading import KazooTimeoutError  # noqa: PLC0415
    from kazoo.retry import KazooRetry  # noqa: PLC0415

    if own.sasl_mechanism and (missing := find_missing(own.sasl_mechanism)):
        return missing
    # kazoo's own default waits up to 3600 s between tries.
    retry = KazooRetry(max_tries=3, delay=0.2, max_delay=1.0)
    client = KazooClient(
        **make_login(own), timeout=wait_s, connection_retry=retry, logger=quiet_logger()
    )
    _take_refusal(client)
    try:
        client.start(timeout=wait_s)
        client.get_children_async(chroot).get(timeout=wait_s)
    except NoNodeError:
        return f"the chroot {chroot} does not exist", "correct the path after HOST:PORT"
    except NoAuthError:
        fix = "correct zookeeper.digest or sasl_*, or grant this client the read ACL on it"
        return f"it answers but refuses the client: {chroot} is not readable", fix
    except (KazooException, KazooTimeoutError) as error:
        cause = str(error) or type(error).__name__
        fix = _SASL if own.sasl_mechanism else _NO_SESSION
        return f"it answers but refuses a session ({cause})", fix
    finally:
        client.stop()
        client.close()
    return None


def _take_refusal(client: Any) -> None:
    """A server that answers a wrong login with an error ends kazoo's thread; now it refuses."""
    from kazoo.exceptions import AuthFailedError, SessionClosedRequireSaslError  # noqa: PLC0415

    authenticate = client._connection._authenticate_with_sasl

    def authenticate_or_fail(host: str, timeout: float) -> None:
        try:
            authenticate(host, timeout)
        except SessionClosedRequireSaslError as error:
            raise AuthFailedError("it refuses this login") from error

    client._connection._authenticate_with_sasl = authenticate_or_fail


def make_login(own: ZooKeeperSettings) -> dict[str, Any]:
    """What kazoo is given; the watcher gives the same (watcher.assembly)."""
    sasl = {
        "mechanism": own.sasl_mechanism,
        "service": own.sasl_service,
        "username": own.sasl_username,
        "password": own.sasl_password and own.sasl_password.get_secret_value(),
    }
    return {
        "hosts": own.connect.partition("/")[0],
        "auth_data": [("digest", own.digest.get_secret_value())] if own.digest else None,
        "sasl_options": {k: v for k, v in sasl.items() if v} if own.sasl_mechanism else None,
        "use_ssl": own.tls,
        "ca": own.ca_file and str(own.ca_file),
        "certfile": own.cert_file and str(own.cert_file),
        "keyfile": own.key_file and str(own.key_file),
        "keyfile_password": own.key_password and own.key_password.get_secret_value(),
        "verify_certs": own.verify_certs,
        "check_hostname": own.check_hostname,
    }
