-- How far behind is each group now, since when is it in this state, and when will it lose data?
-- total_lag leaves out partitions whose lag is not known; unknown says how many there are.
WITH partitions AS (
  SELECT
    *,
    CAST(array_position(
      make_array('OK', 'WARN', 'REWIND', 'ABANDONED', 'UNOWNED', 'STALLED', 'STOPPED'), status
    ) AS INT) AS badness,
    row_number() OVER (
      PARTITION BY cluster, coordinator, group_id ORDER BY lag DESC NULLS LAST, topic, partition
    ) AS place
  FROM offset_lag
  WHERE is_open
), groups AS (
  SELECT
    cluster,
    coordinator,
    group_id,
    max(badness) AS badness,
    count(*) AS partitions,
    count(*) - count(lag) AS unknown,
    count(*) - count(owner) AS unowned,
    sum(lag) AS total_lag,
    max(lag) AS max_lag,
    max(topic || '-' || partition) FILTER (WHERE place = 1 AND lag IS NOT NULL) AS max_lag_partition,
    max(lag_seconds) AS max_lag_seconds,
    sum(velocity) AS velocity,
    max(catch_up_seconds) AS catch_up_seconds,
    max(retention_share) AS max_retention_share,
    sum(lost_records) AS lost_records,
    min(loss_at) AS loss_at,
    max(committed_at) AS committed_at,
    min(sampled_at) AS sampled_at
  FROM partitions
  GROUP BY cluster, coordinator, group_id
), since AS (
  SELECT cluster, coordinator, group_id, badness, min(status_since) AS status_since
  FROM partitions
  GROUP BY cluster, coordinator, group_id, badness
), members AS (
  SELECT cluster, coordinator, group_id, count(*) AS members
  FROM consumer_membership
  WHERE is_open
  GROUP BY cluster, coordinator, group_id
)
SELECT
  groups.cluster,
  groups.coordinator,
  groups.group_id,
  make_array('OK', 'WARN', 'REWIND', 'ABANDONED', 'UNOWNED', 'STALLED', 'STOPPED')[groups.badness]
    AS status,
  since.status_since,
  groups.total_lag,
  groups.max_lag,
  groups.max_lag_partition,
  groups.max_lag_seconds,
  groups.velocity,
  groups.catch_up_seconds,
  groups.max_retention_share,
  groups.lost_records,
  groups.loss_at,
  groups.partitions,
  groups.unknown,
  groups.unowned,
  coalesce(members.members, 0) AS members,
  groups.committed_at,
  groups.sampled_at
FROM groups
LEFT JOIN since
  ON since.cluster = groups.cluster
  AND since.coordinator = groups.coordinator
  AND since.group_id = groups.group_id
  AND since.badness = groups.badness
LEFT JOIN members
  ON members.cluster = groups.cluster
  AND members.coordinator = groups.coordinator
  AND members.group_id = groups.group_id
