from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest

from dashboard.pages import PAGES
from delta_tables.asking.querying import check_query
from delta_tables.catalog import TABLES
from delta_tables.reading import KNOWN, open_tables, query_rows
from lab.cluster import Cluster
from lab.demonstration import Demonstration
from lab.shop import KAFKA_GROUP, MEMBER_RATE, REGULARS, Shop
from lab.stories.broker_acts import StartBroker, StopBroker
from lab.stories.group_acts import CrashMember, JoinGroup, StopMember
from lab.stories.kafka_group_acts import describe_group
from lab.stories.step import Pause
from lab.stories.topic_acts import ElectPreferred, Reassign
from lab.stories.truth import read_truth
from lab.story_answers import StoryAnswers
from lab.story_chapters import Chapter, Pointer, plan_cycle
from lab.story_loop import StoryLoop
from lab.waves import MEAN, PERIOD_S, SWING, find_rate
from tests.delta_tables.empty_lake import make_empty_lake
from tests.delta_tables.small_lake import write_lake
from tests.test_doc_commands import parse, split
from watcher.sampling.group_poll import GroupPoll
from zklake.name_patterns import Names
from zklake.supervision.part import Site
from zklake.supervision.supervisor import Supervisor

OFFSETS = "__consumer_offsets"


def plan(seed: int, cycles: int = 8) -> list[Chapter]:
    dice = Random(seed)
    return [chapter for _ in range(cycles) for chapter in plan_cycle(dice, (0, 1, 2))]


def test_the_same_dice_plan_the_same_chapters() -> None:
    assert plan(7) == plan(7)
    assert plan(7) != plan(8)


def test_who_is_killed_or_stopped_is_held_and_comes_back() -> None:
    for chapter in plan(3):
        for step in chapter.steps:
            if isinstance(step, CrashMember):
                assert step.member_id in chapter.held
                assert isinstance(chapter.steps[-1], JoinGroup)
                assert chapter.steps[-1].member_id == step.member_id
            if isinstance(step, StopBroker):
                assert f"broker-{step.broker}" in chapter.held
                assert chapter.steps[-1] == StartBroker(step.broker)
            if isinstance(step, StopMember):
                assert step.member not in REGULARS


def test_a_newcomer_sees_a_crash_before_anything_else() -> None:
    """After the broker that dies first: a crash, and with it a rebalance, within a minute."""
    first = plan(3)[0]
    assert isinstance(first.steps[0], CrashMember)
    assert sum(step.ms for step in first.steps if isinstance(step, Pause)) <= 30_000


def test_lag_rises_at_once_and_falls() -> None:
    capacity = MEMBER_RATE * len(REGULARS)
    rates = [find_rate(second) for second in range(int(PERIOD_S))]
    assert min(rates) > 0
    assert min(rates) < capacity < max(rates)
    # What the readers do not get done in one half of a wave they do in the other.
    assert abs(sum(rates) / len(rates) - MEAN) < 0.1
    assert capacity >= MEAN
    assert max(rates[:61]) == pytest.approx(MEAN + SWING)


@pytest.fixture(scope="module")
def empty_lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("lake"))
    make_empty_lake(path, "lab", TABLES)
    return path


def test_what_to_look_at_is_there(empty_lake: str) -> None:
    for chapter in plan(3, cycles=1):
        look = chapter.look
        assert urlsplit(look.page).path in {page.name for page in PAGES}
        assert parse(split(look.command))
        sql = look.sql.format(since="TIMESTAMP '2026-11-18T07:00:00+00:00'")
        query_rows(open_tables(empty_lake, "lab"), check_query(sql, KNOWN).sql)
    for command in Demonstration.questions:
        assert parse(split(command))


def test_the_tables_are_quoted_and_a_lake_that_is_behind_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lake(str(tmp_path), "lab", {"topics": [{"topic": "orders"}]})
    site = Site("", "", "lab", str(tmp_path))
    said: list[str] = []
    shown: list[object] = []
    answers = StoryAnswers(site, "http://127.0.0.1:1/", said.append, shown.append)
    look = Pointer("topics", "zklake tables", "SELECT topic FROM topics -- {since}", 1)
    since = datetime.fromisoformat("2026-11-18T07:00:00Z")
    answers.point(look)
    answers.answer(look, since)
    assert said == [
        "  look: http://127.0.0.1:1/topics  or: zklake tables",
        "  the tables say:",
    ]
    assert shown == [[{"topic": "orders"}]]
    monkeypatch.setattr("lab.story_answers._PATIENCE_S", 0.1)
    answers.answer(Pointer("topics", "", "SELECT topic FROM nothing", 1), since)
    assert "do not have all of it yet" in said[-1]
    assert len(shown) == 1


class Reporter:
    """Remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def show_state(self, name: str, state: str) -> None:
        """Nobody looks."""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """Two brokers, and everything that waits on purpose ten times as fast."""
    with (
        Cluster(2, directory=tmp_path / "cluster", logs=tmp_path) as cluster,
        Shop(cluster, seed=7, say=lambda line: None, speed=10) as shop,
    ):
        yield shop


@pytest.mark.integration
@pytest.mark.timeout(1200)
def test_a_whole_cycle_is_told_on_a_real_cluster(shop: Shop, tmp_path: Path) -> None:
    reporter, seen = Reporter(), list[Pointer]()
    supervisor = Supervisor(reporter, lambda: None)
    for server in shop.stage.cluster.servers:
        supervisor.follow(server)
    for member in shop.members:
        supervisor.follow(member)
    try:
        with StoryLoop(
            shop,
            supervisor,
            seed=7,
            say=reporter.say,
            point=lambda look: None,
            answer=lambda look, since: seen.append(look),
        ) as loop:
            loop.run_cycle(Pause(1_000))
            # The coordinator may have moved meanwhile: who asks still gets an answer.
            one = shop.stage.patience.wait_for(
                lambda: describe_group(shop.stage, KAFKA_GROUP), f"the end of {KAFKA_GROUP}"
            )
    finally:
        supervisor.stop()
    assert not [line for line in reporter.lines if "broke off" in line]
    assert seen == [chapter.look for chapter in plan_cycle(Random(7), (0, 1))]
    assert [member.client_id for member in one.members] == ["one"]
    told = [fact.fact for fact in read_truth((tmp_path / "story.jsonl").read_text().splitlines())]
    assert told == [
        "member_left",
        "member_joined",
        "member_joined",
        "member_left",
        "kafka_member_joined",
        "kafka_member_left",
        "config_altered",
        "broker_stopped",
        "broker_started",
    ]


@pytest.mark.integration
@pytest.mark.timeout(1200)
def test_a_group_is_found_after_its_coordinator_has_moved(shop: Shop) -> None:
    """librdkafka keeps asking the broker that it once found, which is the coordinator no more."""
    stage = shop.stage
    shop.kafka_member.launch()

    def find_coordinator() -> int:
        group = stage.patience.wait_for(lambda: describe_group(stage, KAFKA_GROUP), KAFKA_GROUP)
        return int(group.coordinator.id)

    first = find_coordinator()
    (other,) = {broker.broker_id for broker in stage.cluster.brokers} - {first}
    with closing(poll_groups(stage.cluster)) as poll:
        stage.patience.wait_for(lambda: is_whole(poll), "a poll of the watcher")
        Reassign(OFFSETS, 0, (other, first)).perform(stage)
        ElectPreferred(OFFSETS, (0,), "znode").perform(stage)
        stage.patience.wait_for(lambda: find_coordinator() == other, "the other coordinator")
        poll.emit_all()
        assert stage.patience.wait_for(lambda: is_whole(poll), "a poll at the other coordinator")


def poll_groups(cluster: Cluster) -> GroupPoll:
    """As the watcher asks where it may not read the topic of offsets."""
    groups = Names((KAFKA_GROUP,))
    return GroupPoll(
        cluster.bootstrap, {}, groups, lambda: 0, interval_s=0.2, because="as if denied"
    )


def is_whole(poll: GroupPoll) -> bool:
    return poll.take()[1].complete_since_seq is not None
