-- How often did each group rebalance, hour by hour, what began it, and how long was nobody reading?
-- An hour without a rebalance has no row. What cannot be known of a Kafka group is null.
SELECT
  cluster,
  coordinator,
  group_id,
  date_trunc('hour', valid_from_at) AS hour_at,
  count(*) AS rebalances,
  count(*) FILTER (WHERE outcome = 'failed') AS failed,
  array_agg(DISTINCT trigger ORDER BY trigger) AS triggers,
  count(DISTINCT trigger_member_id) AS trigger_members,
  sum(attempts) AS attempts,
  sum(conflicts) AS conflicts,
  sum(moved) AS moved,
  sum(reacquired) AS reacquired,
  sum(unowned_ms) AS unowned_ms,
  max(max_unowned_ms) AS max_unowned_ms,
  sum(duration_ms) AS duration_ms,
  max(duration_ms) AS max_duration_ms
FROM rebalances
GROUP BY cluster, coordinator, group_id, date_trunc('hour', valid_from_at)
