"""Where the watched brokers listen, by their registrations in /brokers/ids. Pure.

The model of the tree keeps no data, so this listens to what is read and remembers the addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock

from watcher.messages import DELETED, NO_NODE, OK, Message, Reply, WatchEvent
from zklake.events.payloads.broker import Broker, decode_broker
from zklake.events.payloads.reading import Unreadable

IDS = "/brokers/ids/"


class Endpoints:
    """The addresses of registered brokers for one security protocol; any thread may ask."""

    def __init__(self, client: Mapping[str, str]) -> None:
        self._protocol = client.get("security.protocol", "plaintext").upper()
        self._lock = Lock()
        self._addresses: dict[str, str] = {}

    def note(self, message: Message) -> None:
        """Hear what comes from ZooKeeper; only what is about a registration says anything."""
        if isinstance(message, Reply) and message.op == "get" and message.path.startswith(IDS):
            if message.error in (OK, NO_NODE):
                self._set(message.path, _find_address(decode_broker(message.data), self._protocol))
        elif isinstance(message, WatchEvent) and message.type == DELETED:
            self._set(message.path, None)

    def _set(self, path: str, address: str | None) -> None:
        with self._lock:
            if address is not None:
                self._addresses[path] = address
            elif len(self._addresses) > 1:
                # The last one known stays: a cluster that is back is found there again.
                self._addresses.pop(path, None)

    def bootstrap(self) -> str | None:
        """HOST:PORT[,…], or None while no broker is known."""
        with self._lock:
            return ",".join(sorted(set(self._addresses.values()))) or None


def _find_address(broker: Broker | Unreadable, protocol: str) -> str | None:
    if isinstance(broker, Unreadable):
        return None
    for endpoint in broker.endpoints:
        listener, _, address = endpoint.partition("://")
        # Before 0.10.2 a listener was named by its protocol.
        spoken = broker.listener_security_protocol_map.get(listener, listener)
        if spoken == protocol and address and not address.startswith(":"):
            return address
    if not broker.endpoints and broker.host and broker.port > 0 and protocol == "PLAINTEXT":
        return f"{broker.host}:{broker.port}"
    return None
