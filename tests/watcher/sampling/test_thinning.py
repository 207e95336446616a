from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.zklake.events import offsets_records as made
from watcher.sampling.thinning import Record, Taken, Thinner, decode_all
from zklake.name_patterns import Names

ALL = Names()


def commit(topic: str, offset: int | None, group: str = "g") -> Record:
    value = None if offset is None else made.commit_value(3, offset)
    return Record(made.commit_key(group, topic, 0), value, 9)


def state(generation: int, group: str = "g") -> Record:
    value = made.group_value(3, "consumer", []).replace(made.i32(5), made.i32(generation), 1)
    return Record(made.group_key(group), value, 9)


def take(thinner: Thinner, names: Names = ALL) -> Taken:
    return decode_all(*thinner.take(), names)


def told(thinner: Thinner) -> list[tuple[str, int | None]]:
    return [(c.topic, c.committed_offset) for c in take(thinner).commits]


def test_the_last_of_each_key_per_interval() -> None:
    thinner = Thinner()
    thinner.catch_up(0)
    for offset in range(100):
        thinner.add(0, commit("a", offset))
    thinner.add(0, commit("b", 5))
    taken = take(thinner)
    assert [(c.topic, c.committed_offset) for c in taken.commits] == [("a", 99), ("b", 5)]
    assert taken.seen == 101
    assert take(thinner) == ([], [], 0, 0)
    thinner.add(0, commit("a", 99))
    assert told(thinner) == [("a", 99)], "the same offset again is a commit too"


def test_nothing_is_said_of_a_partition_that_is_still_being_read() -> None:
    thinner = Thinner()
    thinner.add(0, commit("a", 1))
    thinner.add(1, commit("b", 1))
    thinner.catch_up(1)
    assert told(thinner) == [("b", 1)]
    thinner.add(0, commit("a", 2))
    thinner.catch_up(0)
    assert told(thinner) == [("a", 2)]
    assert thinner.is_caught_up(0)


def test_tombstones_count_from_the_first_end_on() -> None:
    thinner = Thinner()
    thinner.add(0, commit("gone", 1))
    thinner.add(0, commit("gone", None))
    thinner.add(0, state(1, "gone"))
    thinner.add(0, Record(made.group_key("gone"), None, 9))
    thinner.catch_up(0)
    assert take(thinner)[:2] == ([], [])
    thinner.add(0, commit("a", None))
    thinner.add(0, Record(made.group_key("g"), None, 9))
    states, commits, _, _ = take(thinner)
    assert [c.tombstone for c in commits] == [True]
    assert [s.state for s in states] == ["Dead"]


def test_every_generation_is_said_but_for_the_first_reading() -> None:
    thinner = Thinner()
    for generation in range(5):
        thinner.add(0, state(generation))
    thinner.catch_up(0)
    assert [s.generation for s in take(thinner).states] == [4]
    for generation in range(5, 8):
        thinner.add(0, state(generation))
    assert [s.generation for s in take(thinner).states] == [5, 6, 7]


def test_all_that_stands_is_said_anew() -> None:
    thinner = Thinner()
    thinner.catch_up(0)
    for record in (commit("a", 1), commit("b", 2), state(1), state(2, "h")):
        thinner.add(0, record)
    take(thinner)
    for record in (commit("b", None), Record(made.group_key("h"), None, 9)):
        thinner.add(0, record)
    take(thinner)
    thinner.add(0, commit("a", 5))
    thinner.add(0, state(2))
    thinner.emit_all()
    states, commits, seen, _ = take(thinner)
    assert [(s.group_id, s.generation) for s in states] == [("g", 1), ("g", 2)]
    assert [(c.topic, c.committed_offset) for c in commits] == [("a", 5)]
    assert seen == 1
    assert take(thinner) == ([], [], 0, 0)


def test_a_storm_of_rebalances_is_thinned_too() -> None:
    thinner = Thinner(state_bytes=1000)
    thinner.catch_up(0)
    for generation in range(1000):
        thinner.add(0, state(generation, f"g{generation % 10}"))
        assert thinner.waiting < 100
    states = take(thinner).states
    assert {s.group_id: s.generation for s in states} == {f"g{n}": 990 + n for n in range(10)}


def test_groups_by_name_and_records_that_are_no_ones() -> None:
    thinner = Thinner()
    thinner.catch_up(0)
    for group in ("pay-a", "pay-b-test", "other"):
        thinner.add(0, commit("a", 1, group))
    thinner.add(0, Record(made.i16(5) + b"\x00\x01g", b"x", 9))
    thinner.add(0, Record(b"", b"x", 9))
    thinner.add(0, Record(made.commit_key("pay-a", "t", 0), b"\xff", 9))
    taken = take(thinner, Names(("pay-*",), ("*-test",)))
    assert [c.group_id for c in taken.commits] == ["pay-a"]
    assert taken.unreadable == 2


@given(
    st.lists(
        st.one_of(
            st.tuples(st.integers(0, 1), st.sampled_from("abc"), st.none() | st.integers(0, 9)),
            st.sampled_from(["take", "end"]),
        )
    )
)
def test_what_was_said_is_what_stands(steps: list[object]) -> None:
    thinner = Thinner()
    said: dict[str, int | None] = {}
    stands: dict[str, int | None] = {}
    for step in [*steps, "end", "take"]:
        if isinstance(step, tuple):
            partition, topic, offset = step
            key = f"{topic}{partition}"
            thinner.add(partition, commit(key, offset))
            stands[key] = offset
        elif step == "end":
            thinner.catch_up(0)
            thinner.catch_up(1)
        else:
            said.update(told(thinner))
    assert {k: v for k, v in said.items() if v is not None} == {
        k: v for k, v in stands.items() if v is not None
    }
