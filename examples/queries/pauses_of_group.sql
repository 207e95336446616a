-- When did a group make no progress although there were records to read, and what held?
-- Change: 'readers'. Nobody read for least_ms at least, for most_ms at most (docs/pauses.md).
SELECT topic, partition, valid_from_at AS last_progress, valid_to_at AS next_progress, held,
  owner_member_id, broker_id, least_ms, most_ms, records, records_waiting
FROM consumption_pauses
WHERE group_id = 'readers'
ORDER BY valid_from_at, topic, partition
