-- When did a broker leave, how long was it away, and how often in the hour before?
-- One row per absence; one that still lasts counts up to now. Migration to KRaft is no absence.
WITH states AS (
  SELECT *,
    lead(valid_from_at) OVER same AS back_at,
    lead(session) OVER same AS next_session
  FROM broker_membership
  WINDOW same AS (PARTITION BY cluster, broker_id ORDER BY valid_from_seq)
)
SELECT
  cluster,
  broker_id,
  valid_to_at AS left_at,
  back_at,
  CAST(coalesce(back_at, to_timestamp_micros(now())) - valid_to_at AS BIGINT) / 1000 AS away_ms,
  ended_by,
  exit,
  exit_evidence,
  host,
  session,
  next_session,
  count(*) OVER (
    PARTITION BY cluster, broker_id ORDER BY valid_to_at
    RANGE BETWEEN INTERVAL '1 hour' PRECEDING AND CURRENT ROW
  ) AS absences_in_hour
FROM states
WHERE NOT is_open AND ended_by NOT IN ('changed', 'unreadable', 'migrated')
