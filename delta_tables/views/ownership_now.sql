-- Who owns each partition of each group now, since when, how far behind, and who owns nothing?
-- A partition without an owner has a row too, if a member names its topic or the group owns another
-- partition of it; of topics that only a wildcard takes in, and nobody owns any of, conformance knows.
-- is_member false: the owner is not among the members.
WITH owners AS (
  SELECT * FROM ownership_history WHERE is_open AND broker_id IS NULL
), members AS (
  SELECT * FROM consumer_membership WHERE is_open
), consumed AS (
  SELECT cluster, coordinator, group_id, topic FROM owners
  UNION
  SELECT cluster, coordinator, group_id, topic FROM (
    SELECT cluster, coordinator, group_id, unnest(map_keys(subscription)) AS topic
    FROM members
    WHERE coalesce(pattern, 'static') = 'static'
  )
), partitions AS (
  SELECT cluster, coordinator, group_id, topic, partition FROM owners
  UNION
  SELECT consumed.cluster, consumed.coordinator, consumed.group_id, consumed.topic, known.partition
  FROM consumed
  JOIN (
    SELECT cluster, topic, unnest(map_keys(replicas)) AS partition
    FROM topics
    WHERE is_open AND broker_id IS NULL
  ) AS known
    ON known.cluster = consumed.cluster AND known.topic = consumed.topic
)
SELECT
  partitions.cluster,
  partitions.coordinator,
  partitions.group_id,
  partitions.topic,
  partitions.partition,
  owners.owner,
  owners.owner_member_id,
  members.host,
  CASE WHEN owners.owner IS NOT NULL THEN members.member_id IS NOT NULL END AS is_member,
  owners.valid_from_at AS since,
  lags.committed_offset,
  lags.lag,
  lags.lag_seconds,
  lags.status
FROM partitions
LEFT JOIN owners
  ON owners.cluster = partitions.cluster
  AND owners.coordinator = partitions.coordinator
  AND owners.group_id = partitions.group_id
  AND owners.topic = partitions.topic
  AND owners.partition = partitions.partition
LEFT JOIN members
  ON members.cluster = owners.cluster
  AND members.coordinator = owners.coordinator
  AND members.group_id = owners.group_id
  AND members.member_id = owners.owner_member_id
LEFT JOIN lag_now AS lags
  ON lags.cluster = partitions.cluster
  AND lags.coordinator = partitions.coordinator
  AND lags.group_id = partitions.group_id
  AND lags.topic = partitions.topic
  AND lags.partition = partitions.partition
