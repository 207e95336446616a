"""The log's client options in the words of Spark's Java client.

Settings are written in librdkafka's words, which the watcher hands on as they are. What has no
known counterpart is refused: an option that is silently dropped may be the one that encrypts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streaming.log.kafka_login import take_login
from zklake.errors import SettingsError

_SAME = ("client.id", "client.rack", "security.protocol", "ssl.key.password")
# They concern a producer, or librdkafka's own workings: the stream has no use for them.
_OF_THE_WATCHER = (
    *("batch.", "compression.", "linger.ms", "message.", "queue.", "queuing.", "retries"),
    *("retry.", "transaction.", "sticky.", "debug", "log", "statistics.", "socket.keepalive."),
    *("reconnect.", "fetch.", "queued."),
)


def translate_options(client: Mapping[str, str]) -> dict[str, str]:
    """librdkafka options -> those of the Java client."""
    given = dict(client)
    java = {name: given.pop(name) for name in _SAME if name in given}
    if "security.protocol" in java:
        java["security.protocol"] = java["security.protocol"].upper()
    java |= _take_trust(given) | _take_identity(given) | take_login(given)
    algorithm = given.pop("ssl.endpoint.identification.algorithm", None)
    if algorithm is not None:
        # librdkafka's word for "do not check" is `none`, Java's is nothing.
        java["ssl.endpoint.identification.algorithm"] = "" if algorithm == "none" else algorithm
    unknown = sorted(name for name in given if not name.startswith(_OF_THE_WATCHER))
    if unknown:
        raise SettingsError(
            f"log.client: {', '.join(unknown)}: `zklake stream` reads the log with Kafka's Java "
            "client and knows no counterpart; it knows security.protocol, sasl.mechanisms, "
            "sasl.username, sasl.password, sasl.kerberos.*, sasl.oauthbearer.*, ssl.ca.*, "
            "ssl.certificate.*, ssl.key.*, ssl.keystore.*, "
            "ssl.endpoint.identification.algorithm, client.id and client.rack"
        )
    return java


def _take_trust(given: dict[str, str]) -> dict[str, str]:
    pem, location = given.pop("ssl.ca.pem", None), given.pop("ssl.ca.location", None)
    if location is not None:
        _read("ssl.ca.location", location)  # librdkafka also takes a directory; Java does not
        return {"ssl.truststore.type": "PEM", "ssl.truststore.location": location}
    return {} if pem is None else {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": pem}


def _take_identity(given: dict[str, str]) -> dict[str, str]:
    store = given.pop("ssl.keystore.location", None)
    password = given.pop("ssl.keystore.password", None)
    if store is not None:
        java = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": store}
        return java if password is None else {**java, "ssl.keystore.password": password}
    chain = _take_pem(given, "ssl.certificate")
    key = _take_pem(given, "ssl.key")
    if chain is None and key is None:
        return {}
    if chain is None or key is None:
        raise SettingsError("log.client: ssl.certificate.* and ssl.key.* need one another")
    if "BEGIN PRIVATE KEY" not in key and "BEGIN ENCRYPTED PRIVATE KEY" not in key:
        raise SettingsError(
            "log.client: ssl.key.* is not PKCS#8, the only form that Kafka's Java client reads: "
            "openssl pkcs8 -topk8 -in OLD -out NEW"
        )
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": chain,
        "ssl.keystore.key": key,
    }


def _take_pem(given: dict[str, str], name: str) -> str | None:
    pem = given.pop(f"{name}.pem", None)
    location = given.pop(f"{name}.location", None)
    return pem if location is None else _read(f"{name}.location", location)


def _read(name: str, location: str) -> str:
    try:
        return Path(location).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"log.client: {name} = {location}: use a PEM file: {error}") from error
