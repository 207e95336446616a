-- Which committed offsets went backwards in the last day, and by how much?
-- A step back of a moment is a consumer that lost its session and wrote once more.
WITH commits AS (
  SELECT *, lag(committed_offset) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition, broker_id
      ORDER BY valid_from_seq) AS before
  FROM consumer_offsets
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 day'
)
SELECT valid_from_at AS rewound_at, group_id, topic, partition, before AS offset_before,
  committed_offset AS offset_after, before - committed_offset AS messages_back
FROM commits
WHERE committed_offset < before
ORDER BY valid_from_seq
