-- Who owned orders-3 at a given time, and which broker led it then?
-- Change everywhere: 'orders', 3, the time (UTC).
SELECT s.topic, s.partition, o.group_id, o.owner, s.leader, s.isr, s.leader_epoch
FROM partition_state AS s
LEFT JOIN ownership_history AS o
  ON o.cluster = s.cluster AND o.topic = s.topic AND o.partition = s.partition
  AND o.valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (o.is_open OR o.valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
WHERE s.topic = 'orders' AND s.partition = 3
  AND s.valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (s.is_open OR s.valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
ORDER BY o.group_id
