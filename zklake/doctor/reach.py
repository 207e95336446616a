"""Asking several addresses at once: who answers, who answers but refuses us, who does not answer.

Knows neither ZooKeeper nor Kafka.
"""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

INSTALL = "pip install 'zklake[watcher]' to see more than an open port"

# Asks over an open connection to (host); an OSError is a refusal.
Ask = Callable[[socket.socket, str], str]
Pile = Literal["answers", "refusals", "silence"]


class Reach(NamedTuple):
    """What was found at each address: a good answer, another one, or nobody."""

    answers: dict[str, str]
    refusals: dict[str, str]
    silence: dict[str, str]

    @property
    def found(self) -> str:
        """All of it."""
        return "; ".join(text for pile in self for text in pile.values())


def reach_all(addresses: str, ask: Ask, wait_s: float) -> Reach:
    """Ask HOST:PORT[,…], all at once; each step of each takes `wait_s` at most."""
    listed = addresses.split(",")
    reach = Reach({}, {}, {})
    with ThreadPoolExecutor(8) as pool:
        attempts = pool.map(lambda address: _attempt(address, ask, wait_s), listed)
        for address, (pile, text) in zip(listed, attempts, strict=True):
            getattr(reach, pile)[address] = text
    return reach


def _attempt(address: str, ask: Ask, wait_s: float) -> tuple[Pile, str]:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        connection = socket.create_connection((host, int(port)), wait_s)
    except OSError as error:
        return "silence", f"{address} does not answer: {_explain(error)}"
    with connection:
        try:
            return "answers", f"{address}: {ask(connection, host)}"
        except TimeoutError:
            # A port for TLS may wait for more than we have said.
            return "refusals", f"{address} accepts connections but does not answer"
        except OSError as error:
            return "refusals", f"{address} answers but refuses the client: {_explain(error)}"


def quiet_logger() -> logging.Logger:
    """For clients that log every try: what matters of it stands in the finding."""
    quiet = logging.getLogger("zklake.doctor.quiet")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    return quiet


def _explain(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}"
    return error.strerror or str(error)
