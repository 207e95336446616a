-- Which topics got the most records in the last hour, and how many does each still hold?
WITH ends AS (
  SELECT cluster, topic, partition, incarnation,
    max(log_end_offset) - min(log_end_offset) AS came,
    max(log_end_offset) - max(log_start_offset) AS held
  FROM log_ends
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 hour'
  GROUP BY cluster, topic, partition, incarnation
)
SELECT topic, count(*) AS partitions, sum(came) AS came, sum(held) AS held
FROM ends
GROUP BY cluster, topic
ORDER BY came DESC NULLS LAST, topic
