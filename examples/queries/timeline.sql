-- What changed in the ten minutes around a given time?
-- Change everywhere: the time (UTC). Committed offsets are left out: there are too many of them.
WITH changes AS (
  SELECT valid_from_at AS at, 'broker ' || broker_id AS thing, 'came' AS what FROM broker_membership
  UNION ALL SELECT valid_to_at, 'broker ' || broker_id, ended_by FROM broker_membership
  UNION ALL SELECT valid_from_at, 'controller', coalesce('broker ' || controller_id, 'nobody')
  FROM controller
  UNION ALL SELECT valid_from_at, topic, 'partitions: ' || partition_count FROM topics
  UNION ALL SELECT valid_to_at, topic, ended_by FROM topics
  UNION ALL SELECT valid_from_at, topic || '-' || partition,
    'leader ' || leader || ', isr ' || array_to_string(isr, ' ') FROM partition_state
  UNION ALL SELECT valid_from_at, group_id, member_id || ' came' FROM consumer_membership
  UNION ALL SELECT valid_to_at, group_id, member_id || ' left' FROM consumer_membership
  UNION ALL SELECT valid_from_at, group_id, owner || ' owns ' || topic || '-' || partition
  FROM ownership_history
  UNION ALL SELECT valid_from_at, coalesce(topic || '-' || partition, topic), operation || ' asked'
  FROM admin_operations
  UNION ALL SELECT valid_to_at, coalesce(topic || '-' || partition, topic),
    operation || ' ' || ended_by FROM admin_operations
  UNION ALL SELECT valid_from_at, entity_type || ' ' || entity_name, config_key || '=' || value
  FROM config_history
  UNION ALL SELECT valid_from_at, 'watcher', 'blind: ' || reason FROM log_gaps
)
SELECT * FROM changes
WHERE at BETWEEN TIMESTAMP '2026-11-16T03:12:00Z' - INTERVAL '5 minutes'
  AND TIMESTAMP '2026-11-16T03:12:00Z' + INTERVAL '5 minutes' AND what <> 'changed'
ORDER BY at, thing
