-- How far behind is each group now, since when is it in this state, and when will it lose data?
-- total_lag leaves out partitions whose lag is not known; unknown says how many there are. unowned
-- are those that nobody owns; an owner whose znode cannot be read is one. catch_up_seconds is that of
-- the last partition; null while one with a lag is not catching up.
WITH partitions AS (
  SELECT
    lag_now.*,
    owners.partition IS NULL AS is_unowned,
    CAST(array_position(
      make_array('OK', 'WARN', 'REWIND', 'ABANDONED', 'UNOWNED', 'STALLED', 'STOPPED'), status
    ) AS INT) AS badness,
    row_number() OVER (
      PARTITION BY lag_now.cluster, lag_now.coordinator, lag_now.group_id
      ORDER BY lag DESC NULLS LAST, lag_now.topic, lag_now.partition
    ) AS place
  FROM lag_now
  LEFT JOIN (
    SELECT cluster, coordinator, group_id, topic, partition
    FROM ownership_history
    WHERE is_open AND broker_id IS NULL
  ) AS owners
    ON owners.cluster = lag_now.cluster
    AND owners.coordinator = lag_now.coordinator
    AND owners.group_id = lag_now.group_id
    AND owners.topic = lag_now.topic
    AND owners.partition = lag_now.partition
), groups AS (
  SELECT
    cluster,
    coordinator,
    group_id,
    max(badness) AS badness,
    count(*) AS partitions,
    count(*) - count(lag) AS unknown,
    count(*) FILTER (WHERE is_unowned) AS unowned,
    sum(lag) AS total_lag,
    max(lag) AS max_lag,
    max(topic || '-' || partition) FILTER (WHERE place = 1 AND lag IS NOT NULL) AS max_lag_partition,
    max(lag_seconds) AS max_lag_seconds,
    sum(velocity) AS velocity,
    CASE WHEN count(*) FILTER (WHERE lag > 0 AND catch_up_seconds IS NULL) = 0
      THEN max(catch_up_seconds) END AS catch_up_seconds,
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
