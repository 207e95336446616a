"""`/v3/kafka`: the cluster, its topics, its consumer groups and how they are doing."""

from __future__ import annotations

from typing import Any

from dashboard.dialects.burrow.evaluation import Commit, GroupStatus, PartitionStatus
from dashboard.dialects.burrow.question import BurrowAnswer, Question, refuse, say
from dashboard.dialects.burrow.reading import list_groups, read_group
from dashboard.dialects.burrow.sight import read_topics, write_in

_NO_CLUSTER = "cluster not found"
# Burrow's is a uint64.
_MOST = 2**64 - 1


def list_clusters(question: Question) -> BurrowAnswer:
    """The one there is."""
    return say("cluster list returned", clusters=[question.options.cluster])


def list_topics(question: Question) -> BurrowAnswer:
    """Every topic whose log ends are known."""
    if not question.is_known_cluster:
        return refuse(404, _NO_CLUSTER)
    return say("topic list returned", topics=sorted(read_topics(question.sight, "")))


def show_topic(question: Question) -> BurrowAnswer:
    """The log end of each partition, in their order."""
    ends = _read_ends(question) if question.is_known_cluster else []
    if not ends:
        return refuse(404, "cluster or topic not found")
    return say("topic offsets returned", offsets=ends)


def _read_ends(question: Question) -> list[int]:
    sight, those = question.sight, write_in("topic", question.names[1:2])
    # What holds now is what was sampled last; of the past, what was known when it began.
    end = "log_end_offset" if sight.is_past else "coalesce(log_end_offset_last, log_end_offset)"
    sql = f"SELECT partition, {end} AS log_end_offset FROM log_ends WHERE {sight.held}{those}"  # noqa: S608
    ends = {row["partition"]: row["log_end_offset"] for row in sight.ask(sql, "log_ends")}
    if None in ends.values():
        # Burrow keeps the end that it heard last, while nobody leads the partition.
        sql = (
            "SELECT partition, max(log_end_offset) AS log_end_offset FROM log_ends "  # noqa: S608
            f"WHERE log_end_offset IS NOT NULL AND sampled_at <= {sight.write(sight.at_ms)} "
            f"AND valid_to_at >= {sight.write(sight.at_ms - 86_400_000)}{those} GROUP BY partition"
        )
        last = {row["partition"]: row["log_end_offset"] for row in sight.ask(sql, "log_ends")}
        ends = {one: last.get(one) if end is None else end for one, end in ends.items()}
    return [end for _, end in sorted(ends.items()) if end is not None]


def list_topic_consumers(question: Question) -> BurrowAnswer:
    """The groups that commit to a topic."""
    if not question.is_known_cluster:
        return refuse(404, _NO_CLUSTER)
    groups = list_groups(question.sight)
    names = [group for group, topics in groups.items() if question.names[1] in topics]
    return say("consumers of topic returned", consumers=names)


def list_consumers(question: Question) -> BurrowAnswer:
    """Every group."""
    if not question.is_known_cluster:
        return refuse(404, _NO_CLUSTER)
    return say("consumer list returned", consumers=list(list_groups(question.sight)))


def show_consumer(question: Question) -> BurrowAnswer:
    """The windows of a group, by topic, in the order of partitions."""
    group = _read_group(question)
    if group.status == "NOTFOUND":
        return refuse(404, "cluster or consumer not found")
    topics: dict[str, list[dict[str, Any]]] = {}
    for one in group.partitions:
        topics.setdefault(one.topic, []).append(
            {
                "offsets": _write_window(one, question.sight.rules.intervals),
                "owner": one.owner.name,
                "client_id": one.owner.client_id,
                "current-lag": one.current_lag,
            }
        )
    return say("consumer detail returned", topics=topics)


def show_status(question: Question) -> BurrowAnswer:
    """How a group is doing, with the partitions that are not OK."""
    group = _read_group(question)
    return _write_group(group, [one for one in group.partitions if one.status != "OK"])


def show_lag(question: Question) -> BurrowAnswer:
    """How a group is doing, with all of its partitions."""
    group = _read_group(question)
    return _write_group(group, group.partitions)


def _read_group(question: Question) -> GroupStatus:
    cluster, group_id = question.names
    if question.is_known_cluster:
        return read_group(question.sight, group_id)
    return GroupStatus(cluster, group_id, "NOTFOUND", 1.0, 0, None, ())


def _write_group(group: GroupStatus, shown: Any) -> BurrowAnswer:
    status = {
        "cluster": group.cluster,
        "group": group.group_id,
        "status": group.status,
        "complete": group.complete,
        "partitions": [_write_partition(one) for one in shown],
        "partition_count": len(group.partitions),
        "maxlag": None if group.max_lag is None else _write_partition(group.max_lag),
        "totallag": min(group.total_lag, _MOST),
    }
    # A group that is not there is no error to Burrow, but it is a 404.
    code = 404 if group.status == "NOTFOUND" else 200
    return BurrowAnswer(code, "consumer status returned", {"status": status})


def _write_partition(one: PartitionStatus) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "owner": one.owner.name,
        "client_id": one.owner.client_id,
        "status": one.status,
        "start": _write_commit(one.start),
        "end": _write_commit(one.end),
        "current_lag": one.current_lag,
        "complete": one.complete,
    }


def _write_window(one: PartitionStatus, intervals: int) -> list[dict[str, Any] | None]:
    """Burrow's ring: what is not filled yet comes first, as null; none without any commit."""
    if not one.window:
        return []
    return [None] * (intervals - len(one.window)) + [_write_commit(commit) for commit in one.window]


def _write_commit(commit: Commit | None) -> dict[str, Any] | None:
    if commit is None:
        return None
    return {
        "offset": commit.offset,
        "timestamp": commit.at_ms,
        "observedAt": commit.at_ms,
        "lag": commit.lag,
    }
