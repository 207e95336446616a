"""What ZooKeeper consumers and topics do, as the old consumer does it, and sometimes worse."""

from __future__ import annotations

import json

from tests.reference.fold.range_assignment import find_assignment
from tests.reference.fold.things import Member, Topic
from tests.reference.fold.topic_steps import dump
from tests.streaming.fold.cluster import Cluster, Step

TOPICS = ("orders", "orders", "bills", "bills", "audit", "audit", "__consumer_offsets")
GROUPS = ("g1", "g2")
_SUBSCRIPTIONS: tuple[tuple[str, dict[str, int]], ...] = (
    ("static", {"orders": 1}),
    ("static", {"orders": 2, "bills": 1}),
    ("white_list", {"ord.*|aud.*": 1}),
    ("black_list", {"bil.*": 1}),
    ("static", {"nowhere": 1}),
    ("white_list", {".*": 1}),
    # Nobody matches that in bounded time.
    ("white_list", {r"(a|o)\\1?.*": 1}),
)


def create_topic(cluster: Cluster) -> None:
    """A new one, or one of the same name again."""
    _make_topic(cluster, cluster.dice.choice(TOPICS))


def _make_topic(cluster: Cluster, topic: str) -> None:
    count = cluster.dice.randrange(1, 4)
    if f"/brokers/topics/{topic}" not in cluster.tree:
        cluster.create("topic", f"/brokers/topics/{topic}", _assign(cluster, count))
        for partition in range(count):
            cluster.logs[topic, partition] = (0, cluster.dice.choice((0, 0, 50)))


def change_topic(cluster: Cluster) -> None:
    """More partitions, or the same ones elsewhere."""
    if topics := cluster.topics():
        topic = cluster.dice.choice(topics)
        count = len(cluster.partitions(topic)) + cluster.dice.choice((0, 0, 1))
        cluster.logs.setdefault((topic, count - 1), (0, 0))
        cluster.write(f"/brokers/topics/{topic}", _assign(cluster, count))


def delete_topic(cluster: Cluster) -> None:
    """Gone; sometimes it is back at once."""
    if topics := cluster.topics():
        topic = cluster.dice.choice(topics)
        for partition in cluster.partitions(topic):
            del cluster.logs[partition]
        cluster.delete(f"/brokers/topics/{topic}")
        if cluster.chance(0.6):
            cluster.pass_time(cluster.dice.choice((0, 50, 12_000)))
            _make_topic(cluster, topic)


def _assign(cluster: Cluster, count: int) -> bytes:
    replicas = {str(p): cluster.dice.sample((1, 2, 3), 2) for p in range(count)}
    return dump({"version": 1, "partitions": replicas})


def join(cluster: Cluster) -> None:
    """A member registers; the others notice, or do not."""
    group = cluster.dice.choice(GROUPS)
    member = f"{group}_{cluster.dice.choice(('vm-a', 'vm-b', 'vm-c'))}"
    path = f"/consumers/{group}/ids/{member}"
    if path not in cluster.tree:
        pattern, subscription = cluster.dice.choice(_SUBSCRIPTIONS)
        value = {"version": 1, "subscription": subscription, "pattern": pattern}
        data = dump({**value, "timestamp": str(cluster.now_ms)})
        data = b"?" if cluster.chance(0.04) else data
        cluster.create("consumer", path, data, cluster.open_session())
        _react(cluster, group)


def leave(cluster: Cluster) -> None:
    """A session ends; rarely a member only takes back its registration."""
    if not (paths := cluster.paths("consumer")):
        return
    path = cluster.dice.choice(paths)
    group = path.split("/")[2]
    doomed = cluster.ephemerals(cluster.tree[path].owner)
    if cluster.chance(0.5):
        _commit_last(cluster, doomed)
    if cluster.chance(0.15):
        doomed = [path]
    elif cluster.chance(0.5):
        doomed.reverse()
    zxid = cluster.transact()
    for each in doomed:
        cluster.delete(each, zxid)
    _react(cluster, group)


def _commit_last(cluster: Cluster, doomed: list[str]) -> None:
    """A clean stop: it commits what it owns, and goes."""
    for path in doomed:
        parts = path.split("/")
        if parts[3] == "owners":
            _, end = cluster.logs.get((parts[4], int(parts[5])), (0, 9))
            _write_offset(cluster, "/".join([*parts[:3], "offsets", *parts[4:]]), b"%d" % end)
    cluster.pass_time(cluster.dice.choice((0, 20, 300, 950, 1_500, 2_500)))


def _write_offset(cluster: Cluster, path: str, data: bytes) -> None:
    if path in cluster.tree:
        cluster.write(path, data)
    else:
        cluster.create("offset", path, data)


def rebalance(cluster: Cluster) -> None:
    """For no reason that anybody could see."""
    if paths := cluster.paths("consumer"):
        _react(cluster, cluster.dice.choice(paths).split("/")[2])


def _react(cluster: Cluster, group: str) -> None:
    """The members release what they own and claim their shares, in one to three rounds."""
    if cluster.chance(0.2):
        return
    for _ in range(cluster.dice.choice((1, 1, 1, 2, 3))):
        cluster.pass_time(cluster.dice.choice((5, 80, 200, 2_100)))
        members = [path for path in cluster.paths("consumer") if path.split("/")[2] == group]
        for path in cluster.paths("owner"):
            if path.split("/")[2] == group:
                cluster.delete(path)
        cluster.pass_time(cluster.dice.choice((0, 10, 90)))
        if cluster.chance(0.6):
            _claim_ranges(cluster, group, members)
        else:
            _claim_shares(cluster, group, members)


def _claim_ranges(cluster: Cluster, group: str, members: list[str]) -> None:
    """What Kafka's formula gives, where anybody can say."""
    known = {path.rsplit("/", 1)[1]: _read_member(cluster.tree[path].data) for path in members}
    sessions = {path.rsplit("/", 1)[1]: cluster.tree[path].owner for path in members}
    topics = {
        topic: Topic(0, 0, "create", 0, tuple(p for _, p in cluster.partitions(topic)), 0)
        for topic in cluster.topics()
    }
    for (topic, partition), thread in (find_assignment(known, topics) or {}).items():
        path = f"/consumers/{group}/owners/{topic}/{partition}"
        cluster.create("owner", path, thread.encode(), sessions[thread.rsplit("-", 1)[0]])


def _read_member(data: bytes | None) -> Member:
    said = {} if data == b"?" else json.loads(data or b"{}")
    return Member(0, 0, "create", 0, said.get("pattern"), said.get("subscription"), None)


def _claim_shares(cluster: Cluster, group: str, members: list[str]) -> None:
    for number, (topic, partition) in enumerate(cluster.partitions()):
        if not members or (topic == "bills" and cluster.chance(0.5)) or cluster.chance(0.05):
            continue
        member = members[number % len(members)]
        thread = f"{member.rsplit('/', 1)[1]}-0".encode()
        path = f"/consumers/{group}/owners/{topic}/{partition}"
        cluster.create("owner", path, thread, cluster.tree[member].owner)
        if cluster.chance(0.06):
            # A conflict elsewhere: it gives back what it just got.
            cluster.pass_time(3)
            cluster.delete(path)
        elif cluster.chance(0.1):
            cluster.pass_time(cluster.dice.choice((20, 1_000)))


def release_one(cluster: Cluster) -> None:
    """One owner goes, for whatever reason."""
    if paths := cluster.paths("owner"):
        cluster.delete(cluster.dice.choice(paths))


def commit(cluster: Cluster) -> None:
    """Offsets go up; now and then down, away, or wrong."""
    keys = [key for key in cluster.partitions() if cluster.chance(0.5)]
    for topic, partition in keys or [("nowhere", 0)]:
        group = cluster.dice.choice(GROUPS)
        path = f"/consumers/{group}/offsets/{topic}/{partition}"
        start, end = cluster.logs.get((topic, partition), (0, 9))
        offset = cluster.dice.choice((end, end, max(start, end - 7), start, end + 5))
        data = cluster.dice.choice((b"?", b"-1", b"")) if cluster.chance(0.03) else b"%d" % offset
        if path not in cluster.tree:
            cluster.create("offset", path, data)
        elif cluster.chance(0.06):
            cluster.delete(path)
        else:
            cluster.write(path, data)


def commit_fast(cluster: Cluster) -> None:
    """One partition's offset is written again and again."""
    if keys := cluster.partitions():
        topic, partition = cluster.dice.choice(keys)
        path = f"/consumers/{cluster.dice.choice(GROUPS)}/offsets/{topic}/{partition}"
        _, end = cluster.logs[topic, partition]
        count = cluster.dice.randrange(10, 30)
        for offset in range(end - count, end):
            data = b"%d" % max(0, offset + cluster.dice.choice((0, 0, 0, -3)))
            _write_offset(cluster, path, data)
            cluster.pass_time(cluster.dice.choice((0, 20, 60, 300)))


STEPS: tuple[tuple[Step, int], ...] = (
    (create_topic, 3),
    (change_topic, 1),
    (delete_topic, 1),
    (join, 3),
    (leave, 2),
    (rebalance, 1),
    (release_one, 1),
    (commit, 5),
    (commit_fast, 1),
)
