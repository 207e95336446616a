from __future__ import annotations

import struct

import pytest

from bench.group_commits import CommittingGroup, find_partition


@pytest.mark.parametrize(
    ("group_id", "java_hash"),
    [("", 0), ("a", 97), ("hello", 99162322), ("Hello World", -862545276)],
)
def test_a_groups_partition_is_found_by_javas_hash(group_id: str, java_hash: int) -> None:
    assert find_partition(group_id, 50) == abs(java_hash) % 50


def test_a_request_is_as_long_as_it_says_and_an_answer_is_read_by_partition() -> None:
    group = CommittingGroup("g", "orders", (3, 4))
    request = group.pack(2**40)
    assert struct.unpack_from(">i", request) == (len(request) - 4,)
    assert request.endswith(struct.pack(">iiqhiqh", 2, 3, 2**40, 0, 4, 2**40, 0))
    answer = struct.pack(">iih6siihih", 0, 1, 6, b"orders", 2, 3, 0, 4, 16)
    assert group.read_error(answer) == 16
