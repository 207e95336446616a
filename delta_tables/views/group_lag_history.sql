-- How did the lag of each group go, and what was its peak?
-- One row per time in which the lag of the group, over all its partitions, was the same: from at to
-- until_at (null: it still is). The peak of a range is the largest total_lag of the rows with
-- at < its end and until_at > its start. Where a row of offset_lag stands for a minute, its largest
-- lag counts: no peak is missed. partitions: how many of them have a known lag.
WITH steps AS (
  SELECT cluster, coordinator, group_id, valid_from_at AS at, coalesce(lag_max, lag) AS added,
    1 AS known
  FROM offset_lag
  WHERE lag IS NOT NULL
  UNION ALL
  SELECT cluster, coordinator, group_id, valid_to_at, -coalesce(lag_max, lag), -1
  FROM offset_lag
  WHERE lag IS NOT NULL AND NOT is_open
), moments AS (
  SELECT cluster, coordinator, group_id, at, sum(added) AS added, sum(known) AS known
  FROM steps
  GROUP BY cluster, coordinator, group_id, at
), totals AS (
  SELECT cluster, coordinator, group_id, at,
    lead(at) OVER (PARTITION BY cluster, coordinator, group_id ORDER BY at) AS until_at,
    sum(added) OVER so_far AS total_lag,
    sum(known) OVER so_far AS partitions
  FROM moments
  WINDOW so_far AS (
    PARTITION BY cluster, coordinator, group_id ORDER BY at
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
)
SELECT
  cluster,
  coordinator,
  group_id,
  at,
  until_at,
  total_lag,
  CAST(partitions AS INT) AS partitions
FROM totals
WHERE partitions > 0
