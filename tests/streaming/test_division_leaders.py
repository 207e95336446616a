"""Leaders that go hold groups up: the same in tasks, which hand over few of the states written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from streaming.division import Outcome, Work
from tests.streaming.fold.cluster_log import ClusterLog
from tests.streaming.fold.generated import generate
from tests.streaming.lake.test_law_lake import CLUSTER, compare, expect_of_groups
from tests.streaming.test_division import DividedKafka
from zklake.events.envelope import Event, decode


class CountingKafka(DividedKafka):
    """Also counts the states that the walk over the whole log is left with."""

    left = 0

    def run_tasks(self, work: Work, values: Sequence[bytes], offset: int) -> list[Outcome]:
        outcomes = super().run_tasks(work, values, offset)
        if not any(each.refusal for each in outcomes):
            self.left += sum(
                decode(one.value).kind == "partition_state"
                for each in outcomes
                for one in each.left
            )
        return outcomes


def make_log(seed: int) -> list[Event]:
    """As it stands in Kafka."""
    events = generate(seed, CLUSTER, 300)
    return [event for event in events if event.op not in ("seq_hole", "seq_repeat")]


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_groups_are_held_up_as_the_reference_says(seed: int, tmp_path: Path) -> None:
    events = make_log(seed)
    wanted = expect_of_groups(events)
    spans = [span for row in wanted["consumption_pauses"] for span in row["spans"] or ()]
    assert "leader_away" in {span["held"] for span in spans}
    tasks = CountingKafka(tmp_path, events)
    tasks.fold(25)
    assert tasks.divided > 5, tasks.refusals
    compare(tasks, wanted)


def test_the_walk_sees_only_states_by_which_a_leader_goes_or_comes(tmp_path: Path) -> None:
    log = ClusterLog()
    log.assign([1, 2])
    for leader in (1, 2, 1, -1, -1, 2, 1, 2, 1):
        log.lead(0, leader, 1, 2)
    events = [structs.replace(each, cluster=CLUSTER, seq=1_000 + each.seq) for each in log.events]
    whole = CountingKafka(tmp_path / "whole", events)
    whole.fold(len(events))
    # The first, of which nothing was known before; two without a leader; and the one after them.
    assert (whole.divided, whole.left) == (1, 4)
    cut = CountingKafka(tmp_path / "cut", events)
    cut.fold(3)
    assert cut.divided == -(-len(events) // 3)
    assert cut.left == whole.left
    assert cut.read("partition_state") == whole.read("partition_state")
