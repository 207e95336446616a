-- How often did each broker leave, and how long was it down?
WITH states AS (
  SELECT cluster, broker_id, valid_to_at AS left_at, ended_by,
    lead(valid_from_at) OVER (PARTITION BY cluster, broker_id ORDER BY valid_from_seq) AS back_at
  FROM broker_membership
)
SELECT broker_id, count(*) AS departures, max(left_at) AS last_left_at,
  sum(coalesce(back_at, now()) - left_at) AS away_in_all,
  max(coalesce(back_at, now()) - left_at) AS longest,
  bool_or(back_at IS NULL) AS is_away
FROM states
WHERE ended_by NOT IN ('changed', 'unreadable', 'migrated')
GROUP BY cluster, broker_id
ORDER BY departures DESC, broker_id
