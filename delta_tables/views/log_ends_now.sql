-- Where does the log of each partition start and end now, by the last sampling round?
-- The open rows of log_ends, with their newest offsets: a row holds those it began with, and beside
-- them what came last.
SELECT
  cluster,
  topic,
  partition,
  incarnation,
  broker_id,
  coalesce(log_start_offset_last, log_start_offset) AS log_start_offset,
  coalesce(log_end_offset_last, log_end_offset) AS log_end_offset,
  error,
  coalesce(sampled_at_last, sampled_at) AS sampled_at,
  coalesce(confirmed_at_last, confirmed_at) AS confirmed_at
FROM log_ends
WHERE is_open
