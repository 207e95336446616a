-- What did the absence of each broker cost the groups that read its partitions?
-- Partitions that lost their leader while it was away (consumption_pauses, held leader_away):
-- least_ms is summed over groups and partitions, max_least_ms is that of the one that waited longest,
-- records are those that came meanwhile. Null: nobody had to wait, or it is not known. A partition
-- that another broker led on at once is none of them.
WITH lives AS (
  SELECT cluster, broker_id, valid_to_at AS from_at, is_open, ended_by,
    lead(valid_from_at) OVER (PARTITION BY cluster, broker_id ORDER BY valid_from_seq) AS to_at
  FROM broker_membership
), absences AS (
  SELECT cluster, broker_id, from_at, to_at, ended_by
  FROM lives
  WHERE NOT is_open AND (to_at IS NULL OR to_at > from_at)
), pauses AS (
  SELECT cluster, coordinator, group_id, topic, partition, records AS paused_records,
    CAST(valid_to_at - valid_from_at AS BIGINT) / 1000 AS paused_ms, unnest(spans) AS span
  FROM consumption_pauses
  WHERE NOT is_open
), spans AS (
  SELECT *, span['to_ms'] - span['from_ms'] AS held_ms,
    arrow_cast(1000 * span['from_ms'], 'Timestamp(Microsecond, Some("UTC"))') AS from_at,
    arrow_cast(1000 * span['to_ms'], 'Timestamp(Microsecond, Some("UTC"))') AS to_at
  FROM pauses
  WHERE span['held'] = 'leader_away'
)
SELECT
  absences.cluster,
  absences.broker_id,
  absences.from_at AS away_from,
  absences.to_at AS away_to,
  absences.ended_by,
  nullif(count(DISTINCT spans.coordinator || spans.group_id), 0) AS paused_groups,
  nullif(count(DISTINCT spans.topic || '-' || CAST(spans.partition AS STRING)), 0)
    AS paused_partitions,
  sum(spans.held_ms) AS least_ms,
  max(spans.held_ms) AS max_least_ms,
  CAST(round(sum(1.0 * spans.paused_records * spans.held_ms / nullif(spans.paused_ms, 0))) AS BIGINT)
    AS records
FROM absences
LEFT JOIN spans
  ON spans.cluster = absences.cluster
  AND CAST(spans.span['broker_id'] AS INT) = absences.broker_id
  AND spans.to_at > absences.from_at
  AND (absences.to_at IS NULL OR spans.from_at < absences.to_at)
GROUP BY absences.cluster, absences.broker_id, absences.from_at, absences.to_at, absences.ended_by
