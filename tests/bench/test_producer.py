from __future__ import annotations

import struct

from bench.producer import LeaderPartitions, _sum_up, pack_record


def test_the_checksum_is_castagnolis() -> None:
    # The check value that the catalogues of CRCs give.
    assert _sum_up(b"123456789") == 0xE3069283


def test_a_batch_is_as_long_as_it_says_and_sums_up_what_follows_its_checksum() -> None:
    batch = pack_record(b"x" * 100, 1_794_793_200_000)
    _, length, _, magic, checksum = struct.unpack_from(">qiiBI", batch)
    assert (length, magic, checksum) == (len(batch) - 12, 2, _sum_up(batch[21:]))


def test_a_request_holds_the_records_once_for_each_partition() -> None:
    part = LeaderPartitions("orders", (3, 4))
    request = part.pack(b"records")
    assert struct.unpack_from(">i", request) == (len(request) - 4,)
    assert request.endswith(struct.pack(">iii7sii7s", 2, 3, 7, b"records", 4, 7, b"records"))
    answer = struct.pack(">ih6siihqqihqq", 1, 6, b"orders", 2, 3, 0, 8, -1, 4, 6, -1, -1)
    assert part.read_error(answer) == 6
