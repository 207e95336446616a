-- Which partitions had no owner for the longest time in the last day, and in which group?
-- Groups that everybody left are not meant. Every rebalance of the old consumer makes short holes.
WITH tenures AS (
  SELECT *, lead(valid_from_at) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition, broker_id
      ORDER BY valid_from_seq) AS next_at
  FROM ownership_history
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 day'
)
SELECT group_id, topic, partition, owner AS last_owner, ended_by, valid_to_at AS unowned_from,
  next_at AS unowned_to, coalesce(next_at, now()) - valid_to_at AS unowned_for
FROM tenures
WHERE next_at > valid_to_at OR NOT is_open AND next_at IS NULL AND EXISTS (
    SELECT 1 FROM consumer_membership AS m
    WHERE m.is_open AND m.cluster = tenures.cluster AND m.coordinator = tenures.coordinator
      AND m.group_id = tenures.group_id)
ORDER BY unowned_for DESC, topic, partition
LIMIT 20
