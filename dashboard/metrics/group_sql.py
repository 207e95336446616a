"""SQL: the open rows of groups, as both coordinators keep them or as one, and their sums.

A group that both coordinators keep is two groups to us. To others it is one: then the larger
committed offset of a partition counts, as it does to the group itself while it commits to both.
"""

from __future__ import annotations

from collections.abc import Collection

from delta_tables.reading import quote
from delta_tables.statuses import write_severity

HAS_LAG = "SELECT topic FROM offset_lag WHERE is_open LIMIT 1"
_COMMITTED = "CASE WHEN committed_offset >= 0 THEN committed_offset END AS committed_offset"
LAG = f"""
SELECT coordinator, group_id, topic, partition, owner, owner_member_id, {_COMMITTED}, committed_at,
  lag, raw_lag, lag_seconds, {write_severity("status")} AS severity, retention_share,
  CASE WHEN coordinator = 'zookeeper' THEN raw_lag END AS zookeeper_lag
FROM lag_now
"""  # noqa: S608
# Nobody samples log ends: what was committed and owned is still known. 0.7 had other partitions.
UNSAMPLED = f"""
SELECT coordinator, group_id, topic, partition, max(owner) AS owner,
  max(owner_member_id) AS owner_member_id,
  max(committed_offset) AS committed_offset, max(committed_at) AS committed_at,
  CAST(NULL AS BIGINT) AS lag, CAST(NULL AS BIGINT) AS raw_lag,
  CAST(NULL AS DOUBLE) AS lag_seconds, CAST(NULL AS BIGINT) AS severity,
  CAST(NULL AS DOUBLE) AS retention_share, CAST(NULL AS BIGINT) AS zookeeper_lag
FROM (
  SELECT coordinator, group_id, topic, partition, NULL AS owner, NULL AS owner_member_id,
    {_COMMITTED}, valid_from_at AS committed_at
  FROM consumer_offsets
  WHERE is_open AND broker_id IS NULL
  UNION ALL
  SELECT coordinator, group_id, topic, partition, owner, owner_member_id, NULL, NULL
  FROM ownership_history
  WHERE is_open AND broker_id IS NULL
)
GROUP BY coordinator, group_id, topic, partition
"""  # noqa: S608
BOTH = """
SELECT group_id
FROM ({source})
GROUP BY group_id
HAVING min(coordinator) <> max(coordinator)
"""
# Few groups are kept twice: only they are worth a window.
MERGED = """
SELECT '' AS coordinator, group_id, topic, partition, owner, owner_member_id, committed_offset,
  committed_at, lag, raw_lag, lag_seconds, severity, retention_share, zookeeper_lag
FROM ({source})
WHERE NOT {is_both}
UNION ALL
SELECT '' AS coordinator, group_id, topic, partition, max(owner) OVER same AS owner,
  max(owner_member_id) OVER same AS owner_member_id, committed_offset, committed_at, lag, raw_lag,
  lag_seconds, severity, retention_share, max(zookeeper_lag) OVER same AS zookeeper_lag
FROM ({source})
WHERE {is_both}
WINDOW same AS (PARTITION BY group_id, topic, partition)
QUALIFY row_number() OVER (
  PARTITION BY group_id, topic, partition ORDER BY committed_offset DESC NULLS LAST, coordinator
) = 1
"""
# Where the log of a partition ends is what makes it one; without samples, that it has a leader.
SAMPLED_PARTITIONS = "SELECT topic, partition FROM log_ends WHERE is_open AND log_end_offset >= 0"
LED_PARTITIONS = "SELECT topic, partition FROM partition_state WHERE is_open"
# A group that reads a topic at all has a row for each of its partitions.
FILLED = """
SELECT coordinator, group_id, topic, partition, owner, owner_member_id, committed_offset,
  committed_at, lag, raw_lag, lag_seconds, severity, retention_share, zookeeper_lag
FROM ({source})
UNION ALL
SELECT reads.coordinator, reads.group_id, reads.topic, part.partition, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL
FROM (
  SELECT DISTINCT coordinator, group_id, topic FROM ({source}) WHERE committed_offset IS NOT NULL
) AS reads
JOIN ({partitions}) AS part ON part.topic = reads.topic
LEFT ANTI JOIN ({source}) AS known
  ON known.coordinator = reads.coordinator AND known.group_id = reads.group_id
  AND known.topic = reads.topic AND known.partition = part.partition
"""
# Offsets may be as large as a BIGINT: their sum may not. Owners first: count(DISTINCT) would hold a
# set for every group.
SUMS = """
SELECT {keys}, sum(partitions) AS partitions, sum(owned) AS owned,
  count(owner_member_id) AS owners, sum(uncommitted) AS uncommitted,
  sum(committed) AS committed, sum(lag) AS lag,
  sum(raw_lag) AS raw_lag, max(max_lag) AS max_lag, max(lag_seconds) AS lag_seconds,
  max(severity) AS severity, max(retention_share) AS retention_share,
  max(committed_at) AS committed_at
FROM (
  SELECT {keys}, owner_member_id, count(*) AS partitions, count(owner) AS owned,
    count(*) - count(committed_offset) AS uncommitted,
    sum(CAST(committed_offset AS DOUBLE)) AS committed, sum(CAST(lag AS DOUBLE)) AS lag,
    sum(CAST(raw_lag AS DOUBLE)) AS raw_lag, max(lag) AS max_lag, max(lag_seconds) AS lag_seconds,
    max(severity) AS severity, max(retention_share) AS retention_share,
    max(committed_at) AS committed_at
  FROM ({source})
  GROUP BY {keys}, owner_member_id
)
GROUP BY {keys}
"""
PARTITIONS = """
SELECT coordinator, group_id, topic, partition, owner_member_id, committed_offset, lag, raw_lag,
  lag_seconds, severity, zookeeper_lag
FROM ({source})
"""
MEMBERS = """
SELECT coordinator, group_id, count(*) AS members
FROM consumer_membership
WHERE is_open
GROUP BY coordinator, group_id
"""
REBALANCES = """
SELECT coordinator, group_id, count(*) AS rebalances,
  count(*) FILTER (WHERE outcome = 'failed') AS failed,
  sum(CAST(duration_ms AS DOUBLE)) / 1000 AS seconds, bool_or(is_open) AS is_rebalancing
FROM rebalances
GROUP BY coordinator, group_id
"""
# A znode counts its writes, also those that nobody saw; Kafka counts no commits.
COMMITS = """
SELECT group_id, sum(CAST(znode_version AS BIGINT) + 1) AS commits
FROM consumer_offsets
WHERE is_open AND znode_version >= 0
GROUP BY group_id
"""
OWNERS = """
SELECT group_id, member_id, host, client_id
FROM consumer_membership
WHERE is_open
"""


def write_in(column: str, names: Collection[str]) -> str:
    """Whether a column is one of these."""
    return f"{column} IN ({', '.join(quote(name) for name in sorted(names)) or 'NULL'})"
