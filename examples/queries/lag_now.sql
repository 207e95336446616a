-- How far behind is each group now, since when, and which partition is the worst?
SELECT coordinator, group_id, status, status_since, total_lag, max_lag_partition, max_lag,
  max_lag_seconds, catch_up_seconds, loss_at, members, unowned, unknown
FROM group_lag_now
ORDER BY total_lag DESC NULLS LAST, group_id
