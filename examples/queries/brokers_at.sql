-- Which brokers were alive at a given time, and who was the controller?
-- Change everywhere: the time (UTC).
SELECT b.broker_id, b.endpoints, b.valid_from_at AS alive_since,
  b.broker_id = c.controller_id AS is_controller, c.controller_epoch
FROM broker_membership AS b
LEFT JOIN controller AS c
  ON c.cluster = b.cluster
  AND c.valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (c.is_open OR c.valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
WHERE b.valid_from_at <= TIMESTAMP '2026-11-16T03:12:00Z'
  AND (b.is_open OR b.valid_to_at > TIMESTAMP '2026-11-16T03:12:00Z')
ORDER BY b.broker_id
