-- When did a group rebalance, why, how long did it take, and how long were partitions unowned?
-- Change everywhere: 'readers'.
SELECT valid_from_at AS began_at, trigger, trigger_member_id, trigger_topic, outcome, duration_ms,
  attempts, conflicts, moved, reacquired, left_unowned, unowned_ms, max_unowned_ms
FROM rebalances
WHERE group_id = 'readers'
ORDER BY valid_from_seq
