"""Every story on one real cluster and watched; its truth held to the transaction log and the lake.

The tests stand in the order of the play: stories are told, the watcher stops, its log is folded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from dashboard.options import Options
from delta_tables.asking.querying import check_query
from delta_tables.reading import open_tables, query_rows, read_rows
from delta_tables.views import VIEWS
from lab.cluster import Cluster
from lab.stories import STORIES, Fact, run_story
from lab.stories.step import Act, Look
from lab.stories.story import Story
from streaming.daemon import run_once
from streaming.lake.lake import Lake
from streaming.query import Stream
from streaming.rebuild import check_names, rebuild
from tests.dashboard.conftest import open_client
from tests.e2e.answers import ANSWERS, ask
from tests.e2e.cookbook import write_truth
from tests.e2e.lake_differences import (
    find_differences,
    find_lag_differences,
    read_group_tables,
)
from tests.e2e.lake_past import LakePast
from tests.e2e.lies import antedate, falsify, is_absence
from tests.e2e.live_truth import read_live
from tests.e2e.regulars import keep_regulars
from tests.e2e.sampled_past import check_seen, list_rounds, pick_moments
from tests.e2e.seen_changes import pick_group, see_changes
from tests.e2e.slower_watcher import slow_down
from tests.e2e.story_rebalances import (
    check_kafka_rebalances,
    check_rebalances,
    falsify_rebalance,
    find_rebalances,
    list_groups,
)
from tests.e2e.story_reports import check_told, read_tries
from tests.e2e.story_statuses import (
    SPELLS,
    STATUSES,
    check_spell,
    find_wrong_ends,
    find_wrong_numbers,
)
from tests.e2e.story_tables import UNTOLD, check_fact, is_found_out
from tests.e2e.story_tables import find_contradictions as find_table_contradictions
from tests.e2e.story_tools import check_burrow, check_metrics, find_strange
from tests.e2e.theatre import RULES, Theatre, open_theatre
from tests.e2e.told import Told
from tests.e2e.view_past import find_unconforming
from tests.examples import EXAMPLES, Example
from tests.incidents.folded import fold_lake
from tests.reference.fold.tables import fold_events
from tests.reference.past import Contradiction
from tests.reference.story_truth import UNTRACED, find_contradictions
from tests.reference.tree import Change, fold
from tests.reference.txnlog import read_dir
from tests.streaming.fold.test_law import NAMES
from zklake.events.envelope import Event

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]

SEED = 5
SPEED = 50.0
# Small enough for several batches: what one leaves open, the next must close.
BATCH = 1000

stories = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("3.9.3", marks=pytest.mark.e2e),
        pytest.param("3.8.4", marks=pytest.mark.faults),
    ],
)
def theatre(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Theatre]:
    directory = tmp_path_factory.mktemp("watcher")
    with open_theatre(request.param, cluster.bootstrap, directory) as theatre:
        yield theatre


@pytest.fixture(scope="module")
def regulars(theatre: Theatre) -> Iterator[None]:
    """Groups that are still there when all is told."""
    theatre.make_whole()
    with keep_regulars(theatre.cluster):
        yield


@pytest.fixture(scope="module")
def log(theatre: Theatre, regulars: None) -> list[Event]:
    """Everything that was published while the stories were told."""
    return theatre.close_curtain()


@pytest.fixture(scope="module")
def lake(
    theatre: Theatre,
    log: list[Event],
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The log, streamed into Delta tables."""
    path = str(tmp_path_factory.mktemp("lake"))
    stream = Stream(
        theatre.bootstrap, theatre.topic, theatre.name, path, max_records=BATCH, rules=RULES
    )
    totals = run_once(spark, stream)
    print(f"{totals.events} events in {totals.batches} batches")
    assert (totals.events, totals.quarantined) == (len(log), 0)
    assert totals.batches > 1
    return path


@pytest.fixture(scope="module")
def past(theatre: Theatre, lake: str) -> LakePast:
    return LakePast(lake, theatre.name)


@pytest.fixture(scope="module")
def tables(theatre: Theatre, lake: str) -> dict[str, DeltaTable]:
    return open_tables(lake, theatre.name)


@pytest.fixture(scope="module")
def told(theatre: Theatre, lake: str) -> Told:
    """All that was told; beside the lake too, for tests/e2e/cookbook.py."""
    if len(theatre.facts) < len(STORIES):
        pytest.skip("not every story was told to its end")
    admin = AdminClient({"bootstrap.servers": theatre.cluster.bootstrap})
    told = Told(theatre.facts, admin.list_topics(timeout=30))
    write_truth(Path(lake), told)
    return told


def read_changes(cluster: Cluster) -> list[Change]:
    return fold(read_dir(cluster.zookeeper.servers[0].data_dir))[0]


def check_plan(story: Story, told: list[Fact]) -> None:
    """What was told is what the seed planned, in its order."""
    planned = [step for step in story.plan(SEED) if isinstance(step, Act | Look)]
    assert [fact.fact for fact in told] == [step.fact for step in planned]
    for step, fact in zip(planned, told, strict=True):
        fields = json.loads(json.dumps(step.list_fields())) if isinstance(step, Act) else {}
        assert fields.items() <= fact.fields.items()


@stories
def test_the_truth_of(story: Story, theatre: Theatre) -> None:
    theatre.make_whole()
    told: list[Fact] = []
    seconds = run_story(theatre.cluster, story, SEED, SPEED, told.append, say=print)
    print(f"{story.name}: {len(told)} facts in {seconds:.1f} s")
    check_plan(story, told)
    facts = [json.loads(fact.to_json()) for fact in told]
    theatre.facts[story.name] = facts
    changes = read_changes(theatre.cluster)
    assert find_contradictions(facts, changes) == []
    # The checker does not nod at everything: an hour earlier none of this was so.
    acts = [fact for fact in facts if fact["kind"] == "act" and fact["fact"] not in UNTRACED]
    lies = [antedate(fact) for fact in acts]
    assert len(find_contradictions(lies, changes)) == len(lies)


@stories
def test_the_tables_of(story: Story, theatre: Theatre, past: LakePast) -> None:
    if story.name not in theatre.facts:
        pytest.skip("it was not told to its end")
    facts = theatre.facts[story.name]
    assert find_table_contradictions(facts, past) == []
    seen = [fact for fact in facts if fact["fact"] not in UNTOLD]
    # Neither does this one: an hour earlier, or with any field falsified, it is found out.
    lies = [lie for fact in seen for lie in falsify(fact)]
    lies += [antedate(fact) for fact in seen if not is_absence(fact)]
    print(f"{story.name}: {len(seen)} of {len(facts)} facts in the tables, {len(lies)} lies")
    assert [lie for lie in lies if not is_found_out(lie, past)] == []
    # Nor does it pass over what no act tells.
    for fact in seen:
        if check_fact(past, fact):
            silent = [{**one, "fact": "produced"} if one is fact else one for one in facts]
            (finding, *_) = find_table_contradictions(silent, past)
            assert finding.startswith("no act explains")


@pytest.fixture(scope="module")
def changes(theatre: Theatre, lake: str) -> list[Change]:
    """All that ZooKeeper wrote down while the stories were told."""
    return read_changes(theatre.cluster)


@stories
def test_the_statuses_of(story: Story, theatre: Theatre, log: list[Event], past: LakePast) -> None:
    facts = theatre.facts.get(story.name) or pytest.skip("it was not told to its end")
    assert list(find_wrong_ends(past, facts, log[-1].observed_at_ms)) == []
    for spell in SPELLS.get(story.name, ()):
        check_spell(past, facts, spell)
        # An hour earlier it was not so, nor was it another status, which comes by other acts.
        lies = [([*map(antedate, facts)], spell)]
        others = {"REWIND", "ABANDONED"} - {spell.status}
        lies += [(facts, spell._replace(status=status)) for status in others]
        for told, one in lies:
            with pytest.raises(Contradiction):
                check_spell(past, told, one)


def test_every_status_is_told_and_every_lag_is_what_its_row_says(past: LakePast) -> None:
    assert list(find_wrong_numbers(past)) == []
    assert {row["status"] for row in past.find("offset_lag")} >= {*STATUSES}


@stories
def test_the_rebalances_of(
    story: Story, theatre: Theatre, log: list[Event], past: LakePast, changes: list[Change]
) -> None:
    facts = theatre.facts.get(story.name) or pytest.skip("it was not told to its end")
    assert list(check_kafka_rebalances(past, facts)) == []
    for group in list_groups(facts):
        rows, seen = find_rebalances(past, group), [*see_changes(pick_group(changes, group), log)]
        assert list(check_rebalances(rows, seen, facts, group)) == []
        tries = read_tries(theatre.reports, group)
        assert list(check_told(rows, tries, seen, group)) == []
        lies = [lie for row in rows for lie in falsify_rebalance(row)]
        traced = sum(bool(one.traces) for one in tries)
        print(f"{group}: {len(rows)} rebalances, {len(tries)} tries, {traced} of them left traces")
        for true, lie in lies:
            told = [lie if row is true else row for row in rows]
            assert list(check_rebalances(told, seen, facts, group)), lie


@pytest.mark.parametrize("seed", range(3))
def test_the_rebalances_that_a_slower_watcher_tells(
    seed: int, theatre: Theatre, log: list[Event], changes: list[Change], tmp_path: Path
) -> None:
    """The same transactions, some seen late and some gone before they could be read."""
    concerned = [one for one in changes if one.path.startswith(("/consumers/", "/brokers/topics/"))]
    full = [*see_changes(concerned, log)]
    slow = [*slow_down(log, full, Random(seed), most_ms=2_000)]
    past = LakePast(fold_lake(tmp_path, slow, RULES), theatre.name)
    unread = 0
    for facts in theatre.facts.values():
        for group in list_groups(facts):
            rows, seen = (
                find_rebalances(past, group),
                [*see_changes(pick_group(changes, group), slow)],
            )
            assert list(check_rebalances(rows, seen, facts, group)) == []
            tries = read_tries(theatre.reports, group)
            assert list(check_told(rows, tries, seen, group)) == []
            unread += sum(not one.is_read for one in seen)
    print(f"{unread} changes unread")
    assert unread > 0


@stories
def test_the_owners_conform_in(
    story: Story, theatre: Theatre, tables: dict[str, DeltaTable]
) -> None:
    facts = theatre.facts.get(story.name) or pytest.skip("it was not told to its end")
    assert list(find_unconforming(tables, facts)) == []


def test_the_causes_of_every_rise_add_up(theatre: Theatre, tables: dict[str, DeltaTable]) -> None:
    """A story's seconds are too short for a pace: tests/incidents has causes of longer times."""
    rows = query_rows(tables, "SELECT * FROM root_cause ORDER BY group_id, rise_from, rank")
    rises: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        rises.setdefault((row["coordinator"], row["group_id"], row["rise_from"]), []).append(row)
    print(f"{len(rises)} rises, {Counter(row['cause'] for row in rows)}")
    assert rises
    for rise in rises.values():
        assert sum(row["records"] for row in rise) == rise[0]["added"] > 0
        assert [row["rank"] for row in rise] == list(range(1, len(rise) + 1))
    rewound = max(
        (rise for (_, group, _), rise in rises.items() if group.startswith("offset-rewind")),
        key=lambda rise: rise[0]["added"],
    )
    assert rewound[0]["cause"] == "offsets_set_back"


def test_no_row_of_lag_says_what_came_later(
    theatre: Theatre, log: list[Event], past: LakePast
) -> None:
    rows, rounds = past.find("offset_lag"), list_rounds(log)
    seen = [*pick_moments(rows, theatre.sampler.looks, rounds, 3_000, Random(SEED))]
    wrong = [(one.place, one.moment_ms, lie) for one in seen for lie in check_seen(one)]
    print(f"{len(theatre.sampler.looks)} looks, {len(seen)} moments, {len(wrong)} wrong")
    assert len(seen) >= 1_000
    assert wrong == []
    # Whoever is shown a row of later finds out.
    early = [one._replace(moment_ms=one.moment_ms - 120_000) for one in seen]
    assert any(lie for one in early for lie in check_seen(one))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_answer_to(example: Example, told: Told, tables: dict[str, DeltaTable]) -> None:
    query = check_query(ask(example, told), {*tables, *(view.name for view in VIEWS)})
    rows = query_rows(tables, query.sql)
    check = ANSWERS[example.name].check
    check(told, rows)
    # The checker does not nod at everything.
    if rows:
        with pytest.raises((AssertionError, LookupError, ValueError)):
            check(told, [])


def test_peoples_tools_say_what_the_brokers_and_zookeeper_say(
    theatre: Theatre, lake: str, past: LakePast
) -> None:
    # Nothing has changed since the watcher stopped.
    live, strange = read_live(theatre.cluster), find_strange(past)
    check_metrics(lake, theatre.name, live, strange)
    check_burrow(open_client(Options(lake, theatre.name)), theatre.name, live, strange)


def test_streamed_is_what_the_reference_says(theatre: Theatre, log: list[Event], lake: str) -> None:
    wanted = fold_events(log)
    print({name: len(rows) for name, rows in wanted.items()})
    assert find_differences(theatre.name, lake, wanted) == []
    assert find_lag_differences(theatre.name, lake, log) == {}
    seqs = read_rows(lake, theatre.name, "SELECT seq FROM znode_events ORDER BY seq")
    assert seqs == [{"seq": row["seq"]} for row in wanted["znode_events"]]
    # Nothing was hidden; a watcher that stops may say so, as its last word.
    gaps = [event.gap.reason for event in log[:-1] if event.gap is not None]
    assert gaps == ["first_start"]


def test_folded_in_tasks_is_what_the_reference_says(
    spark: SparkSession, theatre: Theatre, log: list[Event], tmp_path: Path
) -> None:
    wanted, lake = fold_events(log), str(tmp_path)
    size = len(log) // 8
    stream = Stream(
        *(theatre.bootstrap, theatre.topic, theatre.name, lake),
        max_records=size,
        large=size // 2,
        rules=RULES,
    )
    assert run_once(spark, stream).events == len(log)
    assert find_differences(theatre.name, lake, wanted) == []
    assert find_lag_differences(theatre.name, lake, log) == {}
    # Each task makes a file of events.
    events = open_tables(lake, theatre.name)["znode_events"]
    assert len(events.file_uris()) > events.version()


def test_rebuilt_is_what_the_reference_says(theatre: Theatre, log: list[Event], lake: str) -> None:
    wanted, streamed = fold_events(log), read_group_tables(theatre.name, lake)
    place = Lake(lake, theatre.name)
    counts = rebuild(place, check_names(()), theatre.topic, print, rules=RULES)
    assert {name: counts[name] for name in NAMES} == {name: len(wanted[name]) for name in NAMES}
    assert find_differences(theatre.name, lake, wanted) == []
    assert read_group_tables(theatre.name, lake) == streamed
