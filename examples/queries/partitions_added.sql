-- Which topics got more partitions, and when?
WITH states AS (
  SELECT *, lag(partition_count) OVER (
      PARTITION BY cluster, topic, incarnation ORDER BY valid_from_seq) AS count_before
  FROM topics
  WHERE broker_id IS NULL
)
SELECT valid_from_at AS added_at, topic, count_before AS partitions_before,
  partition_count AS partitions_after
FROM states
WHERE partition_count > count_before
ORDER BY valid_from_seq
