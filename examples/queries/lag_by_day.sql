-- What was the largest lag of each group on each day that is rolled up, and its worst status?
SELECT day, coordinator, group_id, max(max_lag) AS max_lag, max(max_lag_seconds) AS max_seconds,
  array_agg(DISTINCT worst_status ORDER BY worst_status) AS statuses
FROM lag_rollups
WHERE width_s = 3600
GROUP BY cluster, day, coordinator, group_id
ORDER BY day, max_lag DESC NULLS LAST, group_id
