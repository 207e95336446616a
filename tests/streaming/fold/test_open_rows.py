from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from streaming.fold.open_rows import SHARD_ROWS, Key, OpenRow, OpenRows

KEYS = st.tuples(st.text(max_size=5), st.integers(0, 2**31 - 1), st.none() | st.integers(0, 9))


def make_row(seq: int) -> OpenRow:
    values = [{"0": [1, 2]}, None, "größe", -(2**63), 2**63 - 1]
    return OpenRow(values, 1, 2, "exact", True, None, 0, seq, seq, None, 253_402_300_799_999)


def put(rows: OpenRows, key: Key, seq: int, *, touches: bool = True) -> None:
    rows.find_shard(key).put(key, make_row(seq), touches=touches)


@given(st.dictionaries(KEYS, st.integers(0, 2**53), max_size=50), st.integers(0, 6))
def test_what_was_put_is_there_in_any_number_of_shards(rows: dict[Key, int], bits: int) -> None:
    opened = OpenRows(2**bits)
    for key, seq in rows.items():
        put(opened, key, seq)
    assert dict(opened.items()) == {k: make_row(s) for k, s in rows.items()}
    opened.fit()
    assert {key: row.seen_seq for key, row in opened.items()} == rows
    assert len(opened) == len(rows)
    for key in rows:
        opened.find_shard(key).drop(key, touches=True)
    assert len(opened) == 0


def test_only_what_changed_is_touched() -> None:
    rows = OpenRows(4)
    for number in range(100):
        put(rows, ("t", number), number, touches=False)
    assert not rows.is_touched
    put(rows, ("t", 7), 200)
    assert [shard.is_touched for shard in rows.shards].count(True) == 1
    rows.settle()
    assert not rows.is_touched


def test_shards_become_more_and_fewer_and_are_about_even() -> None:
    rows = OpenRows()
    for number in range(SHARD_ROWS * 8):
        put(rows, (f"topic-{number // 50}", number % 50), number, touches=False)
    rows.fit()
    assert len(rows.shards) == 8
    assert all(shard.is_touched for shard in rows.shards), "they lie in other files now"
    sizes = [len(shard.rows) for shard in rows.shards]
    assert min(sizes) > SHARD_ROWS / 2
    assert max(sizes) < SHARD_ROWS * 2
    for key, _ in [*rows.items()][SHARD_ROWS:]:
        rows.find_shard(key).drop(key, touches=True)
    rows.fit()
    assert len(rows.shards) == 1


def test_a_key_is_in_the_same_shard_in_every_process() -> None:
    code = (
        "from streaming.fold.open_rows import hash_key;"
        "print(hash_key(('kafka', 'größe', 'orders', 7, None)))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(said) == 1
