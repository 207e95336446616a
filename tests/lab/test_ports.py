from __future__ import annotations

import socket

from lab.ports import find_free_ports


def test_ports_are_free_and_differ() -> None:
    ports = find_free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.create_server(("127.0.0.1", port)) as server:
            assert server.getsockname()[1] == port


def test_ports_lie_below_the_ephemeral_range() -> None:
    assert max(find_free_ports(20)) < 32_768
