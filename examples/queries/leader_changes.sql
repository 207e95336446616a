-- Which partitions changed their leader in the last day, from whom to whom?
-- A leader of -1 is none.
WITH states AS (
  SELECT *, lag(leader) OVER (PARTITION BY cluster, topic, partition, czxid ORDER BY valid_from_seq)
    AS old_leader
  FROM partition_state
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 day'
)
SELECT valid_from_at AS changed_at, topic, partition, old_leader, leader AS new_leader,
  leader_epoch, controller_epoch
FROM states
WHERE leader <> old_leader
ORDER BY valid_from_seq
