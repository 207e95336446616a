from __future__ import annotations

from collections import Counter

from bench.kernels import (
    Script,
    play,
    script_hot,
    script_lives,
    script_scan,
    script_sets,
    start_chronicle,
)
from bench.znodes import list_tree
from zklake.events.envelope import decode


def count(script: Script) -> Counter[tuple[str, str]]:
    """What the core says of a script, after a first scan."""
    chronicle = start_chronicle()
    play(chronicle, script_scan(dict(list_tree(902))))
    events = [decode(record) for record in play(chronicle, script)]
    return Counter((event.op, event.fidelity) for event in events)


def test_the_scan_reads_every_znode() -> None:
    records = play(start_chronicle(), script_scan(dict(list_tree(500))))
    ops = Counter(decode(record).op for record in records)
    assert ops == {"gap": 1, "frame_begin": 1, "read": 501, "in_sync": 1}


def test_every_scripted_write_is_told_once() -> None:
    assert count(script_sets(400)) == {("set", "exact"): 400}
    assert count(script_lives(200)) == {("create", "exact"): 200, ("delete", "exact"): 200}


def test_of_a_hot_znode_only_the_last_value_is_read() -> None:
    assert count(script_hot(4_000)) == {("set", "exact"): 2, ("set", "superseded"): 3_998}
