"""The story of configs: of a topic, a broker and a client."""

from __future__ import annotations

from collections.abc import Iterator

from lab.stories.config_acts import AlterConfig, ConfigIs
from lab.stories.step import Step
from lab.stories.story import Cast, Story
from lab.stories.topic_acts import CreateTopic, DeleteTopic, Way
from lab.stories.topic_looks import TopicIsGone

_RATE = "leader.replication.throttled.rate"
_PASSWORD = "listener.name.inside.ssl.key.password"  # noqa: S105


def _alter_configs(cast: Cast) -> Iterator[Step]:
    topic = cast.name("orders")
    yield CreateTopic(topic, cast.place(partitions=1, replication=2))
    yield from _alter_topic(cast, topic)
    yield from _alter_broker(cast)
    yield from _alter_quotas(cast)
    # Its overrides go with it.
    yield DeleteTopic(topic, "znode")
    yield TopicIsGone(topic)


def _alter_topic(cast: Cast, topic: str) -> Iterator[Step]:
    ways: tuple[Way, ...] = ("znode", "api")
    first, other = cast.dice.sample(ways, 2)
    short, long = (str(3_600_000 * cast.dice.randint(1, 9) * days) for days in (1, 10))
    yield AlterConfig(
        "topics", topic, (("retention.ms", short), ("cleanup.policy", "compact")), first
    )
    yield ConfigIs("topics", topic, (("cleanup.policy", "compact"), ("retention.ms", short)))
    yield AlterConfig("topics", topic, (("retention.ms", long),), other)
    yield ConfigIs("topics", topic, (("cleanup.policy", "compact"), ("retention.ms", long)))
    yield AlterConfig("topics", topic, (("cleanup.policy", None),), first)
    yield ConfigIs("topics", topic, (("retention.ms", long),))


def _alter_broker(cast: Cast) -> Iterator[Step]:
    broker, rate = str(cast.dice.choice(cast.broker_ids)), str(cast.dice.randint(1, 9) * 1_000_000)
    yield AlterConfig("brokers", broker, ((_RATE, rate), (_PASSWORD, "open-sesame")))
    yield ConfigIs("brokers", broker, ((_RATE, rate), (_PASSWORD, None)))
    yield AlterConfig("brokers", broker, ((_RATE, None), (_PASSWORD, None)))
    yield ConfigIs("brokers", broker, ())


def _alter_quotas(cast: Cast) -> Iterator[Step]:
    client, rate = cast.name("client"), cast.dice.randint(1, 9) * 1_048_576
    both = (("producer_byte_rate", str(rate)), ("consumer_byte_rate", str(2 * rate)))
    yield AlterConfig("clients", client, both)
    yield ConfigIs("clients", client, both)
    # An entity without quotas is deleted.
    yield AlterConfig("clients", client, tuple((key, None) for key, _ in both))
    yield ConfigIs("clients", client, ())


CONFIG_CHANGES = Story(
    "config-changes",
    "Configs of a topic, a broker and a client are set, changed and removed, by znode and by API.",
    _alter_configs,
)
