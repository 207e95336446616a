"""A TCP proxy between a client and a server: what runs through it is cut, slowed or held up."""

from __future__ import annotations

import select
import socket
import time
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Self


class Proxy:
    """Listens on 127.0.0.1 and forwards every connection to one target."""

    def __init__(self, target_port: int) -> None:
        """Forwards from the moment of its making."""
        self._target = ("127.0.0.1", target_port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.accepted = 0
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._flows = Event()
        self._flows.set()
        self._is_closed = False
        self._refuses = False
        self._delay_s = 0.0
        self._start(self._accept)

    def cut(self) -> None:
        """Break every connection now; new ones go through."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for sock in pair:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def pause(self) -> None:
        """Connections stay open and carry nothing."""
        self._flows.clear()

    def resume(self) -> None:
        """Let what has piled up go on."""
        self._flows.set()

    def slow(self, delay_s: float) -> None:
        """Every piece of data takes so long from now on; 0: none."""
        self._delay_s = delay_s

    def refuse(self, refuses: bool = True) -> None:
        """Drop every new connection after its first words, as ZooKeeper does."""
        self._refuses = refuses

    def send_to_client(self, data: bytes) -> None:
        """Put bytes of our own into the stream of every client."""
        for client, _ in self._pairs:
            client.sendall(data)

    def close(self) -> None:
        """End for good."""
        self._is_closed = True
        self._flows.set()
        # Wakes the accepting thread, which close alone does not.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self, target: object, *args: object) -> None:
        Thread(target=target, args=args, daemon=True).start()  # type: ignore[arg-type]

    def _accept(self) -> None:
        with suppress(OSError):
            while not self._is_closed:
                client, _ = self._listener.accept()
                self.accepted += 1
                self._join(client)

    def _join(self, client: socket.socket) -> None:
        try:
            if self._refuses:
                client.recv(1 << 16)
                raise ConnectionRefusedError
            server = socket.create_connection(self._target, 5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        self._pairs.append((client, server))
        self._start(self._carry, client, server)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        with client, server, suppress(OSError):
            while True:
                for sock in select.select([client, server], [], [])[0]:
                    data = sock.recv(1 << 16)
                    self._flows.wait()
                    time.sleep(self._delay_s)
                    if not data:
                        return
                    other[sock].sendall(data)
