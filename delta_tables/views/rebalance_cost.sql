-- What did each rebalance cost: how long was nobody reading, and how much lag was added meanwhile?
-- lag_after is the group's lag one minute after the end: lag is known once a minute.
WITH changes AS (
  -- The group's lag is the sum of what its rows add when they begin and take back when they end.
  SELECT cluster, coordinator, group_id, valid_from_at AS at, 0 AS order_at, lag AS added,
    CAST(NULL AS BIGINT) AS episode
  FROM offset_lag
  UNION ALL
  SELECT cluster, coordinator, group_id, valid_to_at, 0, -lag, NULL
  FROM offset_lag
  WHERE NOT is_open
  UNION ALL
  SELECT cluster, coordinator, group_id, valid_from_at, -1, 0, valid_from_seq
  FROM rebalances
  UNION ALL
  SELECT cluster, coordinator, group_id,
    coalesce(valid_to_at, to_timestamp_micros(now())) + INTERVAL '1 minute', 1, 0, valid_from_seq
  FROM rebalances
), totals AS (
  SELECT *,
    coalesce(sum(added) OVER (
      PARTITION BY cluster, coordinator, group_id ORDER BY at, order_at
      RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ), 0) AS total
  FROM changes
), costs AS (
  SELECT cluster, coordinator, group_id, episode,
    max(total) FILTER (WHERE order_at = -1) AS lag_before,
    max(total) FILTER (WHERE order_at = 1) AS lag_after
  FROM totals
  WHERE episode IS NOT NULL
  GROUP BY cluster, coordinator, group_id, episode
)
SELECT
  episodes.cluster,
  episodes.coordinator,
  episodes.group_id,
  episodes.valid_from_at AS began_at,
  episodes.valid_to_at AS ended_at,
  episodes.trigger,
  episodes.trigger_member_id,
  episodes.outcome,
  episodes.duration_ms,
  episodes.partitions,
  episodes.moved,
  episodes.reacquired,
  episodes.left_unowned,
  episodes.unowned_ms,
  episodes.max_unowned_ms,
  costs.lag_before,
  costs.lag_after,
  costs.lag_after - costs.lag_before AS lag_added
FROM rebalances AS episodes
LEFT JOIN costs
  ON costs.cluster = episodes.cluster
  AND costs.coordinator = episodes.coordinator
  AND costs.group_id = episodes.group_id
  AND costs.episode = episodes.valid_from_seq
