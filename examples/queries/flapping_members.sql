-- Which members left and came back in the last day, how often, and how long were they away?
WITH states AS (
  SELECT *, lead(valid_from_at) OVER (
      PARTITION BY cluster, coordinator, group_id, member_id ORDER BY valid_from_seq) AS back_at
  FROM consumer_membership
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 day'
)
SELECT group_id, member_id, count(*) AS returns, sum(back_at - valid_to_at) AS away_in_all,
  max(back_at - valid_to_at) AS longest, max(back_at) AS last_back_at
FROM states
WHERE ended_by NOT IN ('changed', 'unreadable') AND back_at IS NOT NULL
GROUP BY cluster, group_id, member_id
ORDER BY returns DESC, group_id, member_id
