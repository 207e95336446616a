"""Waiting for a group: what is there now, against what the formula says."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from lab.zookeeper_consumer.group import (
    expect_owners,
    is_group_settled,
    read_members,
    read_owners,
)


def wait_for(what: str, is_true: Callable[[], bool], timeout_s: float = 40.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s:.0f} s"
        time.sleep(0.05)


def wait_settled(zk: Any, group: str, topic: str, member_ids: set[str]) -> dict[int, str]:
    """Wait until exactly these are members and own exactly what the range formula gives them."""

    def is_as_expected() -> bool:
        return (
            read_members(zk, group).keys() == member_ids
            and is_group_settled(zk, group)
            and read_owners(zk, group, topic) == expect_owners(zk, group).get(topic)
        )

    wait_for(f"{sorted(member_ids)} own {topic}", is_as_expected)
    return read_owners(zk, group, topic)
