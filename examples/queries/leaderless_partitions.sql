-- Which partitions had no leader in the last day, who led them before, and for how long?
WITH states AS (
  SELECT *, lag(leader) OVER (PARTITION BY cluster, topic, partition, czxid ORDER BY valid_from_seq)
    AS leader_before
  FROM partition_state
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 day'
)
SELECT topic, partition, leader_before, isr, valid_from_at AS since,
  coalesce(valid_to_at, now()) - valid_from_at AS leaderless_for, ended_by
FROM states
WHERE leader = -1
ORDER BY valid_from_seq
