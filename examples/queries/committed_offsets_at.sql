-- Which offsets had a group committed at a given time, and when?
-- Change everywhere: 'readers', the time (UTC). It is the next offset to read.
SELECT topic, partition, committed_offset, valid_from_at AS committed_at
FROM consumer_offsets
WHERE group_id = 'readers' AND valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (is_open OR valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
ORDER BY topic, partition
