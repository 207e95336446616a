from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deltalake import QueryBuilder

from delta_tables.asking.cancellation import Cancellation
from delta_tables.live.opener import Opener
from delta_tables.live.parts import Parts
from delta_tables.live.snapshot import Asking, State
from delta_tables.live.tables import Tables
from tests.delta_tables.live.growing_lake import CLUSTER, GrowingLake

_BATCHES = 6
_LEADERS = "SELECT leader FROM partition_state ORDER BY leader"
_OPEN = "SELECT leader FROM partition_state WHERE is_open"


class _Lake:
    """A lake of some batches, and what is read of its files for parts."""

    def __init__(self, path: str, **bounds: int) -> None:
        self.growing = GrowingLake(path)
        for _ in range(_BATCHES):
            self.growing.fold_batch()
        self.opener = Opener(path, CLUSTER)
        self.reads: list[tuple[str, str | None]] = []
        self.parts = self.opener._parts = Parts({}, 256 << 20, self._add, **bounds)

    def _add(self, engine: QueryBuilder, name: str, state: State, condition: str | None) -> None:
        self.reads.append((name, condition))
        self.opener._add_table(engine, name, state, condition)

    def ask(self, sql: str, condition: str) -> list[int]:
        state = self.opener.look().tables["partition_state"]
        asking = Asking(sql, {"partition_state": state}, {"partition_state": condition})
        return [row["leader"] for row in self.opener.ask(asking, Cancellation())]


def test_several_queries_over_a_part_read_it_once(tmp_path: Path) -> None:
    lake = _Lake(str(tmp_path))
    assert lake.ask(_LEADERS, "leader >= 4") == [4, 5, 6]
    assert lake.ask(_OPEN, "leader >= 4") == [6]
    assert lake.ask(_OPEN, "leader < 4") == []
    assert lake.reads == [("partition_state", "leader >= 4"), ("partition_state", "leader < 4")]


def test_a_part_of_another_version_is_read_anew_and_the_former_is_let_go(tmp_path: Path) -> None:
    lake = _Lake(str(tmp_path))
    assert lake.ask(_LEADERS, "leader >= 4") == [4, 5, 6]
    used = lake.parts.used_bytes
    lake.growing.fold_batch()
    assert lake.ask(_LEADERS, "leader >= 4") == [4, 5, 6, 7]
    assert 0 < lake.parts.used_bytes < 2 * used


def test_too_many_rows_are_not_kept_and_all_of_them_answer(tmp_path: Path) -> None:
    lake = _Lake(str(tmp_path), most_rows=2)
    for _ in range(2):
        assert lake.ask(_LEADERS, "leader >= 4") == [4, 5, 6]
    # One that found out, and one per answer.
    assert lake.reads == [("partition_state", "leader >= 4")] * 3
    assert lake.ask(_LEADERS, "leader >= 5") == [5, 6]
    assert lake.ask(_OPEN, "leader >= 5") == [6]
    assert len(lake.reads) == 4


def test_parts_are_bounded_in_bytes(tmp_path: Path) -> None:
    lake = _Lake(str(tmp_path))
    lake.ask(_OPEN, "leader >= 0")
    one = lake.parts.used_bytes
    bounded = _Lake(str(tmp_path / "bounded"), most_bytes=3 * one)
    for number in range(10):
        assert bounded.ask(_LEADERS, f"leader > {number - 10}") == [1, 2, 3, 4, 5, 6]
        assert bounded.parts.used_bytes <= 3 * one
    # What was let go is read again.
    bounded.reads.clear()
    assert bounded.ask(_OPEN, "leader > -10") == [6]
    assert len(bounded.reads) == 1


def test_names_mean_the_tables_of_their_own_query(tmp_path: Path) -> None:
    lake = _Lake(str(tmp_path), most_rows=4)
    least = [1 + number % _BATCHES for number in range(60)]
    with ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda first: lake.ask(_LEADERS, f"leader >= {first}"), least)
    assert list(answers) == [list(range(first, _BATCHES + 1)) for first in least]


def test_narrowed_tables_answer_of_those_rows_alone_also_through_views(tmp_path: Path) -> None:
    growing = GrowingLake(str(tmp_path))
    for _ in range(3):
        growing.fold_batch()
    tables = Tables(str(tmp_path), CLUSTER)
    tables.look()
    sql = "WITH now AS (SELECT leader FROM partition_health) SELECT leader FROM now"
    assert tables.query(sql, "partition_health") == [{"leader": 3}]
    narrowed = tables.narrow({"partition_state": "leader <> 3"})
    assert narrowed.query(sql, "partition_health") == []
    assert narrowed.query(_LEADERS, "partition_state") == [{"leader": 1}, {"leader": 2}]
    # Both are kept, each for itself; of tables that are whole there is one answer for both.
    assert tables.query(_LEADERS, "partition_state") == [{"leader": n} for n in (1, 2, 3)]
    topics = "SELECT topic FROM topics"
    assert narrowed.query(topics, "topics") is tables.query(topics, "topics")
