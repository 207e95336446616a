-- Which partitions had their ISR shrink and grow, hour by hour, and which brokers fell out?
WITH states AS (
  SELECT *,
    lag(isr) OVER same AS isr_before,
    lag(leader) OVER same AS leader_before
  FROM partition_state
  WHERE isr IS NOT NULL
  WINDOW same AS (PARTITION BY cluster, topic, partition, czxid ORDER BY valid_from_seq)
), changes AS (
  SELECT *, array_except(isr_before, isr) AS fell_out, array_except(isr, isr_before) AS came_back
  FROM states
  WHERE isr_before IS NOT NULL
)
SELECT
  cluster,
  topic,
  partition,
  date_trunc('hour', valid_from_at) AS hour_at,
  count(*) FILTER (WHERE cardinality(fell_out) > 0) AS shrinks,
  count(*) FILTER (WHERE cardinality(came_back) > 0) AS expands,
  count(*) FILTER (WHERE leader <> leader_before) AS leader_changes,
  array_sort(array_distinct(flatten(array_agg(fell_out)))) AS fell_out,
  max(valid_from_at) AS last_at
FROM changes
GROUP BY cluster, topic, partition, date_trunc('hour', valid_from_at)
HAVING count(*) FILTER (WHERE cardinality(fell_out) > 0 OR cardinality(came_back) > 0) > 0
