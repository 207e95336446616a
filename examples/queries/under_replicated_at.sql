-- Which partitions were under-replicated at a given time, and which replicas were missing?
-- Change everywhere: the time (UTC).
WITH assigned AS (
  SELECT cluster, topic, unnest(map_keys(replicas)) AS partition,
    unnest(map_values(replicas)) AS replicas
  FROM topics
  WHERE valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
    AND (is_open OR valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
)
SELECT topic, partition, leader, isr, array_except(replicas, isr) AS missing
FROM partition_state
JOIN assigned USING (cluster, topic, partition)
WHERE valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (is_open OR valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
  AND array_length(isr) < array_length(replicas)
ORDER BY topic, partition
