"""When a difference counts: a tree that moves under the auditor, and a lake that is behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from auditor.audit import Audit, Pace
from auditor.comparison import OpenZnodeRow, State, ZnodeTable
from auditor.lake import Watermark
from auditor.log import Head, Record
from zklake.errors import LakeError

TOPIC = ZnodeTable("topics", "/brokers/topics/a")
OLD, NEW = State(10, 0), State(10, 1)


class World:
    """A tree, a log and a lake of one znode; `on_row` happens after each look at the rows."""

    where = "the log"

    def __init__(self, tree: State | None, row: State | None) -> None:
        self.path, self.cluster, self.unreadable = "/lake", "c", set[str]()
        self.tree, self.row, self.row_seq = tree, row, 1
        self.told: dict[str, Any] | None = None
        self.gaps: list[str] = []
        self.now_ms = 1_000
        self.is_moving = True
        self.on_row: Callable[[], None] = lambda: None

    def walk(self) -> Iterator[tuple[ZnodeTable, State]]:
        if self.tree is not None:
            yield TOPIC, self.tree

    def read(self, path: Any, last: int | None = None) -> Any:
        """A znode of the tree, or the log from an offset on."""
        if last is None:
            return self.tree
        return iter([Record(0, Head(1, "create", "log", 1, TOPIC.path))])

    def find_bounds(self) -> tuple[int, int]:
        return 0, 1

    def find_newest_ms(self) -> int:
        return self.now_ms

    def find_watermark(self) -> Watermark:
        self.now_ms += 10_000 if self.is_moving else 0
        return Watermark("log", 1, self.now_ms, 0)

    def list_records(self, log_id: str, first: int, last: int) -> list[dict[str, Any]]:
        return [{"kafka_offset": 0, "seq": 1, "op": "create"}]

    def list_quarantined(self, first: int, last: int) -> set[int]:
        return set()

    def read_rows(self) -> dict[ZnodeTable, OpenZnodeRow]:
        rows = {} if self.row is None else {TOPIC: OpenZnodeRow(self.row, self.row_seq)}
        self.on_row()
        return rows

    def find_gaps(self, since_seq: int) -> list[str]:
        return self.gaps

    def find_last_event(self, path: str) -> dict[str, Any] | None:
        return self.told


def audit(world: World, patience_s: float = 60) -> tuple[list[str], int]:
    """The verdicts, and how many znodes are undecided."""
    part: Any = world
    report = Audit(part, part, part, Pace(patience_s=patience_s, poll_s=0)).run()
    assert report.records == 1
    return [finding.verdict for finding in report.findings], report.undecided


def test_what_agrees_is_not_waited_for() -> None:
    world = World(OLD, OLD)
    world.is_moving = False
    assert audit(world) == ([], 0)


@pytest.mark.parametrize(
    ("tree", "row", "verdicts"),
    [
        (NEW, None, ["unexplained"]),
        (None, OLD, ["phantom"]),
        (NEW, OLD, ["unexplained", "phantom"]),
    ],
)
def test_what_differs_for_good_counts(
    tree: State | None, row: State | None, verdicts: list[str]
) -> None:
    assert audit(World(tree, row)) == (verdicts, 0)


def test_a_lake_that_catches_up_is_right() -> None:
    world = World(NEW, OLD)

    def catch_up() -> None:
        world.row = NEW

    world.on_row = catch_up
    assert audit(world) == ([], 0)


def test_a_znode_that_moves_on_after_the_rows_were_read_is_no_finding() -> None:
    """The row of that look was right when it was read."""
    world = World(State(10, 0), State(10, -1))

    def move() -> None:
        assert world.tree is not None
        world.row, world.tree = world.tree, State(10, (world.tree.version or 0) + 1)

    world.on_row = move
    assert audit(world) == ([], 1)


def test_a_member_that_comes_and_goes_is_no_phantom() -> None:
    world = World(None, OLD)

    def come_and_go() -> None:
        world.row_seq += 1

    world.on_row = come_and_go
    assert audit(world) == ([], 1)


def test_what_a_gap_hides_is_declared() -> None:
    world = World(NEW, OLD)
    world.gaps = ["disconnected"]
    assert audit(world) == ([], 0)


def test_what_the_watcher_may_not_read_is_declared() -> None:
    world = World(NEW, OLD)
    world.told = {"op": "unreadable", "seq": 3, "czxid": 10, "version": 0}
    assert audit(world) == ([], 0)


def test_below_what_may_not_be_listed_no_row_is_a_phantom() -> None:
    world = World(None, OLD)
    world.unreadable = {"/brokers/topics"}
    assert audit(world) == ([], 0)


def test_what_may_not_be_looked_at_is_no_phantom() -> None:
    world = World(None, OLD)
    world.unreadable = {TOPIC.path}
    assert audit(world) == ([], 0)


def test_a_lake_that_stands_still_cannot_be_audited() -> None:
    world = World(NEW, OLD)
    world.is_moving = False
    with pytest.raises(LakeError, match="did not move for 0 s"):
        audit(world, patience_s=0)
