-- How did the lag of each partition of a group go, in buckets of 5 minutes and of an hour?
-- Choose one width_s: 300 or 3600. A bucket in which nothing changed has no row, but the first of a
-- day has one: last_lag of the row before still held. last_lag null: not known, or gone.
-- Days that are rolled up come from lag_rollups, the others from offset_lag, by the same rule.
WITH rolled AS (
  SELECT cluster,
    arrow_cast(max(day), 'Timestamp(Microsecond, Some("UTC"))') + INTERVAL '1 day' AS until_at
  FROM lag_rollups
  GROUP BY cluster
), newest AS (
  SELECT cluster, max(sampled_at) AS at FROM offset_lag WHERE is_open GROUP BY cluster
), rows_left AS (
  SELECT
    series.*,
    greatest(series.valid_from_at, rolled.until_at) AS from_at,
    coalesce(series.valid_to_at, greatest(series.valid_from_at, newest.at)) AS to_at
  FROM offset_lag AS series
  LEFT JOIN rolled ON rolled.cluster = series.cluster
  LEFT JOIN newest ON newest.cluster = series.cluster
  WHERE rolled.until_at IS NULL OR series.is_open OR series.valid_to_at >= rolled.until_at
), touched AS (
  -- A row counts in the bucket in which it begins, in the one in which it ends, and at midnight.
  SELECT
    *,
    array_distinct(array_concat(
      make_array(
        date_bin(INTERVAL '5 minutes', from_at),
        date_bin(INTERVAL '5 minutes', CASE WHEN is_open THEN from_at ELSE to_at END)
      ),
      generate_series(
        date_trunc('day', from_at) + INTERVAL '1 day', date_trunc('day', to_at), INTERVAL '1 day'
      )
    )) AS short_buckets,
    array_distinct(array_concat(
      make_array(
        date_bin(INTERVAL '1 hour', from_at),
        date_bin(INTERVAL '1 hour', CASE WHEN is_open THEN from_at ELSE to_at END)
      ),
      generate_series(
        date_trunc('day', from_at) + INTERVAL '1 day', date_trunc('day', to_at), INTERVAL '1 day'
      )
    )) AS long_buckets
  FROM rows_left
), short_and_long AS (
  SELECT *, 300 AS width_s, unnest(short_buckets) AS bucket_at FROM touched
  UNION ALL
  SELECT *, 3600 AS width_s, unnest(long_buckets) AS bucket_at FROM touched
), parts AS (
  SELECT
    *,
    bucket_at + CASE width_s WHEN 300 THEN INTERVAL '5 minutes' ELSE INTERVAL '1 hour' END
      AS bucket_to_at,
    -- An open row lasts on: what it says holds to the end of the bucket.
    CASE WHEN is_open THEN NULL ELSE to_at END AS ended_at
  FROM short_and_long
), weighed AS (
  SELECT
    *,
    greatest(0, CAST(
      least(coalesce(ended_at, bucket_to_at), bucket_to_at) - greatest(valid_from_at, bucket_at)
      AS BIGINT
    )) AS weight,
    valid_from_at >= bucket_at AND valid_from_at < bucket_to_at AS begins
  FROM parts
), counted AS (
  SELECT
    *,
    weight > 0 OR begins AS is_held,
    coalesce(lag_mean, lag) AS held_lag
  FROM weighed
)
SELECT
  cluster,
  coordinator,
  group_id,
  topic,
  partition,
  CAST(width_s AS INT) AS width_s,
  bucket_at,
  min(coalesce(lag_min, lag)) FILTER (WHERE is_held) AS min_lag,
  max(coalesce(lag_max, lag)) FILTER (WHERE is_held) AS max_lag,
  last_value(
    CASE WHEN ended_at < bucket_to_at THEN NULL ELSE coalesce(lag_last, lag) END
    ORDER BY valid_from_seq
  ) AS last_lag,
  coalesce(
    sum(CAST(held_lag AS DOUBLE) * weight) / nullif(sum(weight) FILTER (WHERE held_lag IS NOT NULL), 0),
    avg(held_lag) FILTER (WHERE is_held)
  ) AS mean_lag,
  max(coalesce(lag_seconds_max, lag_seconds)) FILTER (WHERE is_held) AS max_lag_seconds,
  make_array('OK', 'WARN', 'REWIND', 'ABANDONED', 'UNOWNED', 'STALLED', 'STOPPED')[
    max(CAST(array_position(
      make_array('OK', 'WARN', 'REWIND', 'ABANDONED', 'UNOWNED', 'STALLED', 'STOPPED'), status
    ) AS INT)) FILTER (WHERE is_held)
  ] AS worst_status,
  CAST(coalesce(sum(coalesce(points, 1)) FILTER (WHERE begins), 0) AS INT) AS points,
  CAST(bucket_at AS DATE) AS day,
  min(coalesce(lag_seconds_min, lag_seconds)) FILTER (WHERE is_held) AS min_lag_seconds,
  last_value(
    CASE WHEN ended_at < bucket_to_at THEN NULL ELSE coalesce(lag_seconds_last, lag_seconds) END
    ORDER BY valid_from_seq
  ) AS last_lag_seconds
FROM counted
GROUP BY cluster, coordinator, group_id, topic, partition, width_s, bucket_at
UNION ALL
SELECT
  cluster, coordinator, group_id, topic, partition, width_s, bucket_at, min_lag, max_lag, last_lag,
  mean_lag, max_lag_seconds, worst_status, points, day, min_lag_seconds, last_lag_seconds
FROM lag_rollups
