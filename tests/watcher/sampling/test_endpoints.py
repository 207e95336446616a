from __future__ import annotations

import pytest

from watcher.messages import CHANGED, DELETED, NO_AUTH, NO_NODE, OK, Reply, Tick, WatchEvent
from watcher.sampling.endpoints import Endpoints

PLAIN = b'{"version":2,"host":"k1","port":9092,"endpoints":["PLAINTEXT://k1:9092"]}'
MAPPED = (
    b'{"version":5,"host":"k2","port":9092,"endpoints":["PLAINTEXT://k2:9092","INT://k2:9094"],'
    b'"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT","INT":"SASL_SSL"}}'
)


def get(broker: int, data: bytes | None, error: int = OK) -> Reply:
    return Reply("get", f"/brokers/ids/{broker}", error, 1, data)


def test_the_listener_of_our_protocol() -> None:
    plain, secure = Endpoints({}), Endpoints({"security.protocol": "sasl_ssl"})
    assert plain.bootstrap() is None
    for endpoints in (plain, secure):
        endpoints.note(get(1, PLAIN))
        endpoints.note(get(2, MAPPED))
    assert plain.bootstrap() == "k1:9092,k2:9092"
    assert secure.bootstrap() == "k2:9094"


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"{}",
        b'{"version":1}',
        b"\xff",
        b'{"version":2,"endpoints":["PLAINTEXT://:9092"]}',
    ],
)
def test_what_is_no_registration_is_no_address(data: bytes | None) -> None:
    endpoints = Endpoints({})
    endpoints.note(get(1, data))
    assert endpoints.bootstrap() is None


def test_registrations_of_0_7_and_0_8() -> None:
    endpoints = Endpoints({})
    endpoints.note(get(1, b"10.0.0.5-1315436360737:10.0.0.5:9092"))
    endpoints.note(get(2, b'{"host":"k1.example","version":1,"port":9093}'))
    assert endpoints.bootstrap() == "10.0.0.5:9092,k1.example:9093"


def test_who_left_is_forgotten_but_for_the_last() -> None:
    endpoints = Endpoints({})
    endpoints.note(get(1, PLAIN))
    endpoints.note(get(2, MAPPED))
    endpoints.note(WatchEvent(3, CHANGED, "/brokers/ids/1"))
    endpoints.note(get(1, None, NO_AUTH))
    assert endpoints.bootstrap() == "k1:9092,k2:9092"
    endpoints.note(WatchEvent(3, DELETED, "/brokers/ids/1"))
    assert endpoints.bootstrap() == "k2:9092"
    endpoints.note(get(2, None, NO_NODE))
    endpoints.note(Tick())
    assert endpoints.bootstrap() == "k2:9092"
