"""Stories of brokers and their controller."""

from __future__ import annotations

from collections.abc import Iterator

from lab.stories.broker_acts import (
    BrokersAre,
    ControllerIs,
    DeposeController,
    KillBroker,
    StartBroker,
    StopBroker,
)
from lab.stories.step import Pause, Step
from lab.stories.story import Cast, Story
from lab.stories.topic_acts import CreateTopic
from lab.stories.topic_looks import LeadersAre


def _restart_in_turn(cast: Cast) -> Iterator[Step]:
    topic, replicas = cast.name("orders"), cast.place(partitions=3, replication=3)
    yield CreateTopic(topic, replicas)
    yield LeadersAre(topic, replicas, preferred=True)
    for broker_id in cast.dice.sample(cast.broker_ids, len(cast.broker_ids)):
        yield StopBroker(broker_id)
        yield LeadersAre(topic, replicas)
        yield StartBroker(broker_id)
        yield LeadersAre(topic, replicas)
        yield Pause(5_000)
    yield BrokersAre()
    yield ControllerIs()


def _lose_controllers(cast: Cast) -> Iterator[Step]:
    topic, replicas = cast.name("orders"), cast.place(cast.dice.randint(2, 4), replication=3)
    yield CreateTopic(topic, replicas)
    yield ControllerIs()
    yield DeposeController()
    yield ControllerIs()
    yield Pause(5_000)
    yield KillBroker("controller")
    yield ControllerIs()
    yield LeadersAre(topic, replicas)
    yield Pause(5_000)
    yield StartBroker("dead")
    yield LeadersAre(topic, replicas)
    yield BrokersAre()


ROLLING_RESTART = Story(
    "rolling-restart",
    "Every broker is stopped cleanly and started again, one after the other.",
    _restart_in_turn,
)
CONTROLLER_FAILOVER = Story(
    "controller-failover",
    "The controller is deposed by hand, then killed with -9 and started again.",
    _lose_controllers,
)
