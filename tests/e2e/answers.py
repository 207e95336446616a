"""Every example query, asked of a story, and what its answer must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.e2e import answers_of_brokers as brokers
from tests.e2e import answers_of_groups as groups
from tests.e2e import answers_of_lag as lag
from tests.e2e import answers_of_topics as topics
from tests.e2e.told import Fact, Rows, Told, middle
from tests.examples import Example


@dataclass(frozen=True)
class Answer:
    """How the truth is held against the rows; of which story, and of which moment, was asked."""

    check: Callable[[Told, Rows], None]
    story: str = ""
    moment: Callable[[Told], Fact] | None = None


def ask(example: Example, told: Told) -> str:
    """The example with the names of a story that was told, and a moment in it."""
    answer = ANSWERS[example.name]
    if not answer.story:
        return example.text
    prefix = f"{answer.story}-{told.facts[answer.story][0]['seed']}-"
    return example.ask(prefix, middle(answer.moment(told)) if answer.moment else None)


ANSWERS: Mapping[str, Answer] = {
    "blind_times": Answer(brokers.check_blind_times),
    "broker_absences": Answer(brokers.check_broker_absences),
    "brokers_at": Answer(brokers.check_brokers_at, "controller-failover", brokers.find_lone_reign),
    "busiest_topics": Answer(lag.check_busiest_topics),
    "brokers_now": Answer(brokers.check_brokers_now),
    "cluster_facts": Answer(brokers.check_cluster_facts),
    "committed_offsets_at": Answer(
        groups.check_committed_offsets_at, "quiet-day", groups.find_offsets
    ),
    "config_changes": Answer(topics.check_config_changes),
    "controller_reigns": Answer(brokers.check_controller_reigns),
    "flapping_members": Answer(groups.check_flapping_members),
    "group_at": Answer(
        groups.check_group_at,
        "consumer-crash",
        lambda told: groups.find_owners(told, "consumer-crash"),
    ),
    "group_churn": Answer(groups.check_group_churn),
    "groups_on_zookeeper": Answer(groups.check_groups_on_zookeeper),
    "isr_shrinks": Answer(topics.check_isr_shrinks),
    "lag_at": Answer(lag.check_lag_at, "stuck-consumer", groups.find_stuck),
    "lag_by_day": Answer(lag.check_lag_by_day),
    "lag_now": Answer(lag.check_lag_now),
    "last_writes": Answer(brokers.check_last_writes),
    "leader_changes": Answer(topics.check_leader_changes),
    "leader_epochs": Answer(topics.check_leader_epochs),
    "leaderless_partitions": Answer(topics.check_leaderless_partitions),
    "member_lives": Answer(groups.check_member_lives, "flapping-member"),
    "offline_partitions": Answer(topics.check_offline_partitions),
    "offset_rewinds": Answer(groups.check_offset_rewinds),
    "owner_and_leader_at": Answer(
        groups.check_owner_and_leader_at,
        "quiet-day",
        lambda told: groups.find_owners(told, "quiet-day"),
    ),
    "partitions_added": Answer(topics.check_partitions_added),
    "pauses_of_group": Answer(lag.check_pauses_of_group, "stuck-consumer"),
    "preferred_leaders": Answer(topics.check_preferred_leaders),
    "reassignments": Answer(topics.check_reassignments),
    "rebalances_of_group": Answer(lag.check_rebalances_of_group, "consumer-crash"),
    "session_ends": Answer(groups.check_session_ends),
    "stuck_owners_at": Answer(groups.check_stuck_owners_at, "stuck-consumer", groups.find_stuck),
    "timeline": Answer(brokers.check_timeline, "controller-failover", brokers.find_lone_reign),
    "topic_deletions": Answer(topics.check_topic_deletions),
    "topics_recreated": Answer(topics.check_topics_recreated),
    "under_replicated_at": Answer(
        topics.check_under_replicated_at, "rolling-restart", topics.find_one_short
    ),
    "under_replicated_now": Answer(topics.check_under_replicated_now),
    "unowned_partitions": Answer(groups.check_unowned_partitions),
    "unreadable_values": Answer(brokers.check_unreadable_values),
    "unseen_values": Answer(brokers.check_unseen_values),
    "znode_history": Answer(topics.check_znode_history, "partitions-added"),
    "wrong_owners": Answer(lag.check_wrong_owners),
}
