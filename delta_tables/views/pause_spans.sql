-- What kept each group from reading, when, for how long, and how many records came meanwhile?
-- One row per time in which one thing held (consumption_pauses.held), of pauses that are over; a
-- pause of which a gap hid something has none. records: those of the whole pause, as if they had
-- come evenly. least_ms: for so long at least nobody read: of an owner that is stuck less the usual
-- time between two commits, but of one that let go (event_seq) whole: the next one read it again.
WITH pauses AS (
  SELECT cluster, coordinator, group_id, topic, partition, valid_from_at AS paused_from,
    valid_to_at AS paused_to, records AS paused_records, coalesce(usual_ms, 60000) AS wait_ms,
    CAST(valid_to_at - valid_from_at AS BIGINT) / 1000 AS paused_ms, unnest(spans) AS span
  FROM consumption_pauses
  WHERE NOT is_open
), spans AS (
  SELECT *, span['held'] AS held, span['to_ms'] - span['from_ms'] AS held_ms FROM pauses
)
SELECT
  cluster,
  coordinator,
  group_id,
  topic,
  partition,
  held,
  arrow_cast(1000 * span['from_ms'], 'Timestamp(Microsecond, Some("UTC"))') AS from_at,
  arrow_cast(1000 * span['to_ms'], 'Timestamp(Microsecond, Some("UTC"))') AS to_at,
  held_ms,
  CASE WHEN held = 'unknown' THEN 0
    WHEN held = 'owner_stuck' AND span['event_seq'] IS NULL THEN greatest(0, held_ms - wait_ms)
    ELSE held_ms END AS least_ms,
  CAST(round(1.0 * paused_records * held_ms / nullif(paused_ms, 0)) AS BIGINT) AS records,
  span['owner_member_id'] AS owner_member_id,
  CAST(span['broker_id'] AS INT) AS broker_id,
  span['event_seq'] AS event_seq,
  paused_from,
  paused_to
FROM spans
