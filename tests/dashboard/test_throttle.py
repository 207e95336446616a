from __future__ import annotations

import pytest

from dashboard.throttle import Throttle, name_network


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def test_an_address_that_was_wrong_too_often_waits_and_may_try_again() -> None:
    clock = Clock()
    throttle = Throttle(10, clock)
    assert [throttle.note_wrong("192.0.2.1") for _ in range(10)] == [False] * 9 + [True]
    assert throttle.find_wait("192.0.2.1") == pytest.approx(6)
    assert throttle.find_wait("192.0.2.2") == 0
    clock.at += 7
    assert throttle.find_wait("192.0.2.1") == 0
    assert throttle.note_wrong("192.0.2.1")
    clock.at += 1000
    assert [throttle.note_wrong("192.0.2.1") for _ in range(10)] == [False] * 9 + [True]


def test_strangers_from_everywhere_are_held_back_and_keep_no_friend_out() -> None:
    clock = Clock()
    throttle = Throttle(10, clock)
    assert throttle.note_right("192.0.2.1", "ann")
    assert not throttle.note_right("192.0.2.1", "ann")
    assert throttle.note_right("192.0.2.1", "token")
    for number in range(100):
        throttle.note_wrong(f"198.51.100.{number}")
    assert throttle.find_wait("203.0.113.1") > 0
    assert throttle.find_wait("192.0.2.1") == 0
    clock.at += 3601
    assert throttle.find_wait("203.0.113.1") == 0
    assert throttle.note_right("192.0.2.1", "ann")


def test_it_remembers_so_many_addresses_and_no_more() -> None:
    throttle = Throttle(10, Clock())
    for number in range(20_000):
        throttle.note_wrong(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(throttle._by_address) <= 4096


def test_a_host_has_one_network_of_ipv6() -> None:
    assert name_network("2001:db8::1") == name_network("2001:db8::ffff:1") == "2001:db8::"
    assert name_network("2001:db8:0:1::1") != name_network("2001:db8::1")
    assert name_network("::ffff:192.0.2.1") != name_network("::ffff:192.0.2.2")
    assert name_network("testclient") == "testclient"


def test_it_can_be_switched_off() -> None:
    throttle = Throttle(0, Clock())
    assert not any(throttle.note_wrong("192.0.2.1") for _ in range(1000))
    assert throttle.find_wait("192.0.2.1") == 0
