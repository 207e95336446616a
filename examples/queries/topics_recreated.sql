-- Which topics were deleted and created again, and with how many partitions?
WITH lives AS (
  SELECT cluster, topic, incarnation, max(topic_id) AS topic_id, max(partition_count) AS partitions,
    min(valid_from_at) AS created_at,
    max(valid_to_at) FILTER (WHERE ended_by IN ('deleted', 'recreated', 'resync')) AS deleted_at
  FROM topics
  WHERE broker_id IS NULL
  GROUP BY cluster, topic, incarnation
), counted AS (
  SELECT *, count(*) OVER (PARTITION BY cluster, topic) AS lives FROM lives
)
SELECT topic, topic_id, partitions, created_at, deleted_at
FROM counted
WHERE lives > 1
ORDER BY topic, created_at
