"""What the two topics of a cluster must look like, and how an existing one is judged. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from watcher.log.batch import FRAMING_BYTES, MAX_RECORD_BYTES
from zklake.errors import TopicRefused

MAX_MESSAGE_BYTES = MAX_RECORD_BYTES + FRAMING_BYTES


class TopicRule(NamedTuple):
    """What one config of an existing topic must be; a broken rule refuses, or only warns."""

    config: str
    needed: str
    holds: Callable[[str], bool]
    refuses: bool
    because: str


def safe_configs(replication: int) -> dict[str, str]:
    """What both topics are created with."""
    return {
        "min.insync.replicas": str(max(1, replication - 1)),
        "unclean.leader.election.enable": "false",
        "max.message.bytes": str(MAX_MESSAGE_BYTES),
    }


def events_configs(replication: int) -> dict[str, str]:
    """What the event topic is created with: it keeps everything."""
    keep_all = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
    return safe_configs(replication) | keep_all


def tree_configs(replication: int) -> dict[str, str]:
    """What the tree topic is created with: compacted early, since every restart reads it whole."""
    compact_early = {
        "cleanup.policy": "compact",
        "segment.bytes": str(64 * 1024 * 1024),
        "segment.ms": str(10 * 60 * 1000),
        "min.cleanable.dirty.ratio": "0.1",
    }
    return safe_configs(replication) | compact_early


def _refuse(config: str, needed: str, because: str) -> TopicRule:
    return TopicRule(config, needed, lambda found: found == needed, True, because)


def _warn(config: str, needed: str, because: str) -> TopicRule:
    return TopicRule(config, needed, lambda found: found == needed, False, because)


_UNCLEAN = _warn(
    "unclean.leader.election.enable", "false", "an unclean election can drop committed events"
)
_FORGETS = "older events will be deleted; a lost head heals by a base frame"

EVENTS_RULES = (
    _refuse("cleanup.policy", "delete", "compaction would delete events"),
    TopicRule(
        "max.message.bytes",
        str(MAX_MESSAGE_BYTES),
        lambda found: int(found) >= MAX_MESSAGE_BYTES,
        True,
        "a large znode would not fit, and would block the log",
    ),
    _warn("retention.ms", "-1", _FORGETS),
    _warn("retention.bytes", "-1", _FORGETS),
    _UNCLEAN,
)

TREE_RULES = (
    _refuse("cleanup.policy", "compact", "rows of quiet znodes would be deleted"),
    _UNCLEAN,
)


def judge_topic(
    bootstrap: str,
    topic: str,
    partitions: int,
    found: Mapping[str, str],
    rules: tuple[TopicRule, ...],
) -> list[str]:
    """Raise TopicRefused when an existing topic would lose history; return what to warn of."""
    if partitions != 1:
        raise TopicRefused(
            f"topic {topic} has {partitions} partitions, needed is 1 (events would lose their "
            f"order). Partitions cannot be taken away: unless it holds something of yours, delete "
            f"it, and zklake makes it anew: kafka-topics.sh --bootstrap-server {bootstrap} "
            f"--delete --topic {topic}"
        )
    broken = [rule for rule in rules if rule.config in found and not rule.holds(found[rule.config])]
    refused = [rule for rule in broken if rule.refuses]
    if refused:
        raise TopicRefused(_format_refusal(bootstrap, topic, found, refused))
    return [_format_refusal(bootstrap, topic, found, [rule]) for rule in broken]


def _format_refusal(
    bootstrap: str, topic: str, found: Mapping[str, str], broken: list[TopicRule]
) -> str:
    what = "; ".join(
        f"{rule.config}={found[rule.config]}, needed is {rule.needed} ({rule.because})"
        for rule in broken
    )
    fix = ",".join(f"{rule.config}={rule.needed}" for rule in broken)
    return (
        f"topic {topic} has {what}. To change it: kafka-configs.sh --bootstrap-server {bootstrap} "
        f"--alter --entity-type topics --entity-name {topic} --add-config {fix}"
    )
