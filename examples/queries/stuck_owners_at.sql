-- Who owned which partitions at a given time, and how long ago was the last commit?
-- Change everywhere: 'readers', the time (UTC). Idle is fine where nothing was produced.
SELECT o.topic, o.partition, o.owner, o.valid_from_at AS owned_from, c.committed_offset,
  TIMESTAMP '2026-11-16T03:12:00Z' - c.valid_from_at AS since_last_commit,
  c.valid_from_at < o.valid_from_at AS never_committed_by_this_owner
FROM ownership_history AS o
LEFT JOIN consumer_offsets AS c
  ON c.cluster = o.cluster AND c.coordinator = o.coordinator AND c.group_id = o.group_id
  AND c.topic = o.topic AND c.partition = o.partition
  AND c.valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (c.is_open OR c.valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
WHERE o.group_id = 'readers' AND o.valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (o.is_open OR o.valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
ORDER BY since_last_commit DESC, o.topic, o.partition
