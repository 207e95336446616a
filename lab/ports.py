"""Ports on 127.0.0.1 that are free now and stay free while a server of ours is down."""

from __future__ import annotations

import random
import socket

from zklake.errors import LabError

# Below every usual ephemeral range (Linux from 32768, others from 49152). A port out of that range,
# which is what bind(0) gives, can be taken by any outgoing connection while its server restarts;
# worse, a client that keeps dialling it while it is down ends up connected to itself.
_FIRST, _LAST = 12_000, 32_000
_TRIES = 1_000

_given: set[int] = set()
_random = random.SystemRandom()


def find_free_ports(count: int) -> list[int]:
    """Ports nobody listens on, none of them given out before by this process."""
    return [_find_free_port() for _ in range(count)]


def take_port(port: int) -> bool:
    """Whether this very port is free, and now given out."""
    if port in _given or not _is_free(port):
        return False
    _given.add(port)
    return True


def _find_free_port() -> int:
    for _ in range(_TRIES):
        port = _random.randint(_FIRST, _LAST)
        if take_port(port):
            return port
    raise LabError(f"no free port on 127.0.0.1 between {_FIRST} and {_LAST}: end some servers")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: connections of the past in TIME_WAIT do not make a port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
