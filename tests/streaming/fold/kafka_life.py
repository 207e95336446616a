"""What the brokers' logs do, what the sampler says of them, and the groups that Kafka keeps."""

from __future__ import annotations

from tests.streaming.fold import group_life
from tests.streaming.fold.cluster import Cluster, KafkaGroup, Step
from zklake.events.samples import (
    BrokerFailure,
    Commit,
    GroupCommits,
    GroupReading,
    GroupState,
    LogEnd,
    LogEnds,
    Member,
    Round,
    TopicPartitions,
)

BROKERS = (1, 2, 3)
# g1 commits to both.
_GROUPS = ("k1", "simple", "g1")
# What no honest broker says.
_HOSTILE = (
    LogEnd("orders", -1, 1, 0, 5),
    LogEnd("orders", 2**31, 1, 0, 5),
    LogEnd("orders", 0, 1, -5, 5),
    LogEnd("bills", 0, 2**40, 0, 2**70),
    LogEnd("bills", 1, 2, 0, 2**63 - 1),
    LogEnd("bills", 1, 2, 3),
)


def produce(cluster: Cluster) -> None:
    """Logs grow, and lose their oldest records."""
    for key, (start, end) in cluster.logs.items():
        if cluster.chance(0.5):
            grown = end + cluster.dice.choice((1, 10, 333))
            lost = cluster.dice.choice((0, 0, 0, 5, grown - start))
            cluster.logs[key] = (min(start + lost, grown), grown)


def elect(cluster: Cluster) -> None:
    """Other brokers lead."""
    cluster.elections += 1


def sample(cluster: Cluster) -> None:
    """A round: who answers is told, what changed is said; a slow broker comes later."""
    after_seq = cluster.seq
    cluster.pass_time(cluster.dice.choice((0, 5, 60)))
    is_base = not cluster.has_sampled or cluster.chance(0.05)
    slow = [b for b in BROKERS if b not in cluster.owing and cluster.chance(0.1)]
    answered = [b for b in BROKERS if b not in cluster.owing and b not in slow]
    news = _find_news(cluster, answered, is_base=is_base)
    if cluster.chance(0.15):
        # Things go on while the brokers are asked.
        cluster.publish("heartbeat", "/")
        produce(cluster)
        commit(cluster)
        if cluster.chance(0.4):
            group_life.commit_fast(cluster)
    failed = [b for b in slow if cluster.chance(0.4)]
    cluster.owing |= {b: after_seq for b in slow if b not in failed}
    if is_base:
        failed = [*failed, *cluster.owing]
    _tell(cluster, news, after_seq, answered, failed, is_base=is_base)
    cluster.has_sampled = True


def answer_late(cluster: Cluster) -> None:
    """A slow broker answers at last, to an old question."""
    if cluster.owing:
        broker = cluster.dice.choice(sorted(cluster.owing))
        after_seq = cluster.owing.pop(broker)
        _tell(cluster, _find_news(cluster, [broker], is_base=False), after_seq, [broker], [])


def _find_news(cluster: Cluster, answered: list[int], *, is_base: bool) -> list[LogEnd]:
    if is_base:
        cluster.said.clear()
    ends = {}
    for (topic, partition), (start, end) in cluster.logs.items():
        leader = BROKERS[(partition + len(topic) + cluster.elections) % 3]
        if leader in answered:
            entry = LogEnd(topic, partition, leader, start, end)
            if cluster.chance(0.03):
                entry = LogEnd(topic, partition, leader, error="NOT_LEADER_FOR_PARTITION")
            ends[topic, partition] = entry
    gone = [key for key in cluster.said if key not in cluster.logs]
    news = [end for key, end in sorted(ends.items()) if cluster.said.get(key) != end]
    cluster.said |= ends
    for key in gone:
        del cluster.said[key]
    hostile = [cluster.dice.choice(_HOSTILE)] if cluster.chance(0.04) else []
    return [*news, *hostile, *(LogEnd(*key, error="UNKNOWN_TOPIC_OR_PART") for key in gone)]


def _tell(
    cluster: Cluster,
    news: list[LogEnd],
    after_seq: int,
    answered: list[int],
    failed: list[int],
    *,
    is_base: bool = False,
) -> None:
    while len(news) > 2 and cluster.chance(0.3):
        part, news = news[:2], news[2:]
        cluster.publish("log_ends", None, log_ends=LogEnds(tuple(part)))
    ended = Round(
        after_seq,
        brokers_answered=tuple(answered),
        brokers_failed=tuple(BrokerFailure(b, "timed out") for b in failed),
        is_base=is_base,
        groups=_read_groups(cluster),
    )
    cluster.publish("log_ends", None, log_ends=LogEnds(tuple(news), ended))


def _read_groups(cluster: Cluster) -> GroupReading | None:
    """Rarely all was said anew, and what was said before no longer holds."""
    if not cluster.chance(0.1):
        return None
    since = cluster.seq - cluster.dice.randrange(60)
    reason = "not authorised" if cluster.chance(0.2) else None
    behind = cluster.dice.choice((0, 0, 0, 2))
    return GroupReading("offsets_topic", since, behind, reason=reason)


def commit(cluster: Cluster) -> None:
    """The last commits of an interval; some are deleted."""
    commits = []
    for key in cluster.partitions():
        if cluster.chance(0.5):
            group = cluster.dice.choice(_GROUPS)
            start, end = cluster.logs[key]
            offset = cluster.dice.choice((end, end, max(start, end - 9), start))
            offset = cluster.dice.choice((-1, 2**62)) if cluster.chance(0.02) else offset
            at_ms = cluster.now_ms - cluster.dice.choice((0, 400, 9_000, -2_000))
            is_gone = cluster.chance(0.08)
            commits.append(
                Commit(group, *key, tombstone=True)
                if is_gone
                else Commit(
                    group,
                    *key,
                    committed_offset=offset,
                    commit_at_ms=None if cluster.chance(0.1) else at_ms,
                )
            )
    if commits:
        cluster.publish("group_commit", None, group_commit=GroupCommits(tuple(commits)))


def change_group(cluster: Cluster) -> None:
    """A new generation: members came or went, or only the assignment is another."""
    name = cluster.dice.choice(("k1", "g1"))
    group = cluster.groups.setdefault(name, KafkaGroup())
    if cluster.chance(0.05):
        cluster.groups.pop(name)
        state = GroupState(name, tombstone=True)
        cluster.publish("group_state", None, group_state=state)
        return
    if cluster.chance(0.05):
        # Its members did not fit a record.
        state = GroupState(name, state="Stable", generation=group.generation, member_count=900)
        cluster.publish("group_state", None, fidelity="oversize", group_state=state)
        return
    group.generation += cluster.dice.choice((0, 1, 1, 1, 2))
    wanted = f"{name}-{cluster.dice.choice('abc')}"
    if cluster.chance(0.7):
        if wanted in group.members:
            del group.members[wanted]
        else:
            group.members[wanted] = []
    names = sorted(group.members)
    for number, each in enumerate(names):
        group.members[each] = cluster.partitions()[number :: len(names)]
    state = GroupState(
        name,
        state="Stable" if names else "Empty",
        generation=None if cluster.has_polled_groups else group.generation,
        protocol_type="consumer",
        at_ms=None if cluster.chance(0.1) else cluster.now_ms - 3,
        members=tuple(_tell_member(each, parts) for each, parts in group.members.items()),
        member_count=len(names),
    )
    cluster.publish("group_state", None, group_state=state)


def _tell_member(name: str, parts: list[tuple[str, int]]) -> Member:
    topics = tuple(sorted({topic for topic, _ in parts}))
    assigned = (TopicPartitions(t, tuple(p for name, p in parts if name == t)) for t in topics)
    return Member(name, subscription=topics, assignment=tuple(assigned))


STEPS: tuple[tuple[Step, int], ...] = (
    (produce, 6),
    (sample, 16),
    (answer_late, 3),
    (elect, 1),
    (commit, 4),
    (change_group, 3),
)
