-- How far behind is each partition of each group now, by the last sampling round?
-- The open rows of offset_lag, with their newest numbers: a row holds what was known when it began,
-- and beside it what came last. In a round with more changes than lag.points_per_round, and only
-- then, lag_seconds_error, lag_quality, loss_at, other_offset and divergence may be a minute old.
WITH newest AS (
  SELECT
    *,
    coalesce(committed_offset_last, committed_offset) AS new_offset,
    coalesce(log_end_offset_last, log_end_offset) AS new_end,
    coalesce(lag_last, lag) AS new_lag,
    coalesce(velocity_last, velocity) AS new_velocity
  FROM offset_lag
  WHERE is_open
)
SELECT
  cluster,
  coordinator,
  group_id,
  topic,
  partition,
  incarnation,
  owner,
  owner_member_id,
  new_offset AS committed_offset,
  coalesce(committed_at_last, committed_at) AS committed_at,
  log_start_offset,
  new_end AS log_end_offset,
  sampled_at,
  new_lag AS lag,
  CASE WHEN points > 1 AND raw_lag IS NOT NULL THEN new_end - new_offset ELSE raw_lag END
    AS raw_lag,
  reason,
  coalesce(lag_seconds_last, lag_seconds) AS lag_seconds,
  lag_seconds_error,
  lag_quality,
  new_velocity AS velocity,
  CASE WHEN points > 1 AND new_lag > 0 AND new_velocity < 0 THEN new_lag / -new_velocity
    WHEN points > 1 THEN NULL ELSE catch_up_seconds END AS catch_up_seconds,
  CASE WHEN points > 1 AND new_end > log_start_offset
    THEN CAST(new_lag AS DOUBLE) / (new_end - log_start_offset) ELSE retention_share END
    AS retention_share,
  CASE WHEN points > 1 AND new_lag IS NOT NULL THEN greatest(0, log_start_offset - new_offset)
    ELSE lost_records END AS lost_records,
  loss_at,
  other_offset,
  divergence,
  status,
  status_since
FROM newest
