from __future__ import annotations

from typing import Any

import pytest
from kazoo.exceptions import ConnectionLoss, NodeExistsError

from lab.zookeeper_consumer.ownership import Ownership

ORDERS_0 = ("orders", 0)
PATH = "/consumers/g/owners/orders/0"


class Answer:
    def get(self) -> None:
        return None


class Client:
    """As much of kazoo as an owner meets: `client_id` is None while there is no connection."""

    def __init__(self) -> None:
        self.client_id: tuple[int, bytes] | None = (7, b"")
        self.znodes: dict[str, bytes] = {}

    def create(self, path: str, data: bytes, **options: Any) -> None:
        if path in self.znodes:
            raise NodeExistsError
        self.znodes[path] = data

    def get(self, path: str) -> tuple[bytes, None]:
        return self.znodes[path], None

    def delete_async(self, path: str) -> Answer:
        del self.znodes[path]
        return Answer()


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def ownership(client: Client) -> Ownership:
    ownership = Ownership("g")
    assert ownership.claim(client, {ORDERS_0: "g_a-0"}) == {}
    return ownership


def test_a_lost_connection_does_not_make_it_forget_what_it_holds(
    client: Client, ownership: Ownership
) -> None:
    client.client_id = None
    with pytest.raises(ConnectionLoss):
        ownership.release(client)
    assert ownership.held == {ORDERS_0: "g_a-0"}
    # The session has lived on: its owners would keep others out for ever.
    client.client_id = (7, b"")
    ownership.release(client)
    assert (ownership.held, client.znodes) == ({}, {})


def test_nothing_is_claimed_without_a_connection(client: Client, ownership: Ownership) -> None:
    client.client_id = None
    with pytest.raises(ConnectionLoss):
        ownership.claim(client, {("orders", 1): "g_a-0"})
    client.client_id = (7, b"")
    ownership.release(client)
    assert client.znodes == {}


def test_what_ended_with_its_session_is_left_to_its_new_owner(
    client: Client, ownership: Ownership
) -> None:
    client.client_id = (8, b"")
    client.znodes[PATH] = b"g_b-0"
    ownership.release(client)
    assert (ownership.held, client.znodes) == ({}, {PATH: b"g_b-0"})


def test_an_owner_that_is_no_text_is_a_refusal_like_any_other(client: Client) -> None:
    client.znodes[PATH] = b"\xff\xfe"
    assert Ownership("g").claim(client, {ORDERS_0: "g_a-0"}) == {ORDERS_0: "\ufffd\ufffd"}
