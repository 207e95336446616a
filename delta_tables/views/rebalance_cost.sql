-- What did each rebalance cost: how long was nobody reading, and how much lag was added meanwhile?
-- lag_after is the group's lag one minute after the end: lag is known once a minute. Both are sums
-- over the partitions whose lag is known then, null where none is; lag_added compares those that
-- are known at both times. offset_lag is kept for 30 days: of rebalances before it nothing is known.
WITH moments AS (
  SELECT cluster, coordinator, group_id, valid_from_seq AS episode, valid_from_at AS at,
    -1 AS order_at
  FROM rebalances
  UNION ALL
  SELECT cluster, coordinator, group_id, valid_from_seq,
    coalesce(valid_to_at, to_timestamp_micros(now())) + INTERVAL '1 minute', 1
  FROM rebalances
), places AS (
  SELECT cluster, coordinator, group_id, topic, partition, incarnation,
    min(valid_from_at) AS first_at
  FROM offset_lag
  WHERE lag IS NOT NULL
  GROUP BY cluster, coordinator, group_id, topic, partition, incarnation
), changes AS (
  -- The lag of a partition is what its rows add when they begin and take back when they end.
  SELECT cluster, coordinator, group_id, topic, partition, incarnation,
    valid_from_at AS at, 0 AS order_at, lag AS added, 1 AS known, CAST(NULL AS BIGINT) AS episode
  FROM offset_lag
  WHERE lag IS NOT NULL
  UNION ALL
  SELECT cluster, coordinator, group_id, topic, partition, incarnation,
    valid_to_at, 0, -lag, -1, NULL
  FROM offset_lag
  WHERE lag IS NOT NULL AND NOT is_open
  UNION ALL
  SELECT places.cluster, places.coordinator, places.group_id, places.topic, places.partition,
    places.incarnation, moments.at, moments.order_at, 0, 0, moments.episode
  FROM moments
  JOIN places
    ON places.cluster = moments.cluster
    AND places.coordinator = moments.coordinator
    AND places.group_id = moments.group_id
    AND places.first_at <= moments.at
), totals AS (
  SELECT *, sum(added) OVER so_far AS lag, sum(known) OVER so_far AS rows
  FROM changes
  WINDOW so_far AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition, incarnation
    ORDER BY at, order_at
    RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
), costs AS (
  SELECT cluster, coordinator, group_id, episode,
    sum(lag_before) AS lag_before,
    sum(lag_after) AS lag_after,
    sum(lag_after - lag_before) AS lag_added
  FROM (
    SELECT cluster, coordinator, group_id, episode,
      max(lag) FILTER (WHERE order_at = -1) AS lag_before,
      max(lag) FILTER (WHERE order_at = 1) AS lag_after
    FROM totals
    WHERE episode IS NOT NULL AND rows > 0
    GROUP BY cluster, coordinator, group_id, episode, topic, partition, incarnation
  )
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
  costs.lag_added
FROM rebalances AS episodes
LEFT JOIN costs
  ON costs.cluster = episodes.cluster
  AND costs.coordinator = episodes.coordinator
  AND costs.group_id = episodes.group_id
  AND costs.episode = episodes.valid_from_seq
