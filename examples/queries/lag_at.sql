-- How far behind was a group at a given time, partition by partition, and in which status?
-- Change everywhere: 'readers', the time (UTC). reason says why a lag is not known.
SELECT topic, partition, owner, committed_offset, log_end_offset, lag, lag_seconds, lag_quality,
  status, status_since, reason
FROM offset_lag
WHERE group_id = 'readers' AND valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (is_open OR valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
ORDER BY topic, partition
