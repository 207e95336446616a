-- When did a partition of a group have no owner, for how long, and who had it before and after?
-- nobody_ms: the part of it in which no member of the group read the topic (a wildcard, and what is
-- not known, may take it in). Open holes count up to now. A group that was too large for a record has
-- owners all the same: that is no hole.
WITH readers AS (
  SELECT members.cluster, members.coordinator, members.group_id, topics.topic,
    members.valid_from_at, members.valid_from_seq, members.is_open,
    coalesce(members.valid_to_at, to_timestamp_micros(now())) AS to_at
  FROM consumer_membership AS members
  JOIN (SELECT DISTINCT cluster, coordinator, group_id, topic FROM ownership_history) AS topics
    ON topics.cluster = members.cluster
    AND topics.coordinator = members.coordinator
    AND topics.group_id = members.group_id
  WHERE members.subscription IS NULL
    OR coalesce(members.pattern, 'static') <> 'static'
    OR array_has(map_keys(members.subscription), topics.topic)
), lives AS (
  SELECT cluster, coordinator, group_id, topic, valid_from_at AS from_at,
    max(to_at) OVER (
      PARTITION BY cluster, coordinator, group_id, topic ORDER BY valid_from_at, valid_from_seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS alone_at
  FROM readers
), last_lives AS (
  SELECT cluster, coordinator, group_id, topic, max(to_at) AS from_at
  FROM readers
  GROUP BY cluster, coordinator, group_id, topic
  HAVING NOT bool_or(is_open)
), empty_times AS (
  SELECT cluster, coordinator, group_id, topic, alone_at AS from_at, from_at AS to_at
  FROM lives
  WHERE alone_at < from_at
  UNION ALL
  SELECT cluster, coordinator, group_id, topic, from_at, to_timestamp_micros(now()) AS to_at
  FROM last_lives
), tenures AS (
  SELECT cluster, coordinator, group_id, topic, partition, owner, ended_by, is_open, valid_from_seq,
    valid_to_at,
    lead(valid_from_at) OVER same AS next_at,
    lead(owner) OVER same AS next_owner
  FROM ownership_history
  WHERE broker_id IS NULL
  WINDOW same AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition ORDER BY valid_from_seq
  )
), holes AS (
  SELECT *, coalesce(next_at, to_timestamp_micros(now())) AS to_at
  FROM tenures
  WHERE NOT is_open AND (next_at IS NULL OR next_at > valid_to_at)
    AND NOT (coordinator = 'kafka' AND ended_by = 'unreadable')
)
SELECT
  holes.cluster,
  holes.coordinator,
  holes.group_id,
  holes.topic,
  holes.partition,
  holes.owner AS last_owner,
  holes.ended_by,
  holes.valid_to_at AS unowned_from,
  holes.next_at AS unowned_to,
  holes.next_owner,
  CAST(holes.to_at - holes.valid_to_at AS BIGINT) / 1000 AS unowned_ms,
  coalesce(sum(
    CAST(least(holes.to_at, empty_times.to_at) - greatest(holes.valid_to_at, empty_times.from_at)
      AS BIGINT) / 1000
  ) FILTER (WHERE empty_times.from_at IS NOT NULL), 0) AS nobody_ms
FROM holes
LEFT JOIN empty_times
  ON empty_times.cluster = holes.cluster
  AND empty_times.coordinator = holes.coordinator
  AND empty_times.group_id = holes.group_id
  AND empty_times.topic = holes.topic
  AND empty_times.from_at < holes.to_at
  AND empty_times.to_at > holes.valid_to_at
GROUP BY holes.cluster, holes.coordinator, holes.group_id, holes.topic, holes.partition,
  holes.owner, holes.ended_by, holes.valid_to_at, holes.next_at, holes.next_owner, holes.to_at,
  holes.valid_from_seq
