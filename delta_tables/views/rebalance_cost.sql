-- What did each rebalance cost: how long did nobody read, and how many records waited meanwhile?
-- Summed over the partitions on which records were there to read (consumption_pauses). least_ms:
-- nobody read for so long: without an owner, and with one that had crashed (crashed_ms, from its
-- last commit to the end of its session: the next owner reads again what it had not committed).
-- max_least_ms: the same of the partition that waited longest; max_most_ms: the longest that any can
-- have waited, from one commit that moved it forward to the next. records: those that came in
-- least_ms, as if they had come evenly between those two. All null: nothing had to wait, or it is not
-- known, or not over: what is said once never changes.
WITH pauses AS (
  SELECT cluster, coordinator, group_id, topic, partition, valid_from_seq, most_ms,
    records AS paused_records, CAST(valid_to_at - valid_from_at AS BIGINT) / 1000 AS paused_ms,
    unnest(spans) AS span
  FROM consumption_pauses
  WHERE NOT is_open
), spans AS (
  SELECT *, span['held'] AS held, span['to_ms'] - span['from_ms'] AS held_ms,
    span['event_seq'] AS event_seq
  FROM pauses
  WHERE span['held'] IN ('unowned', 'owner_crashed') AND span['event_seq'] IS NOT NULL
), belonging AS (
  SELECT episodes.cluster, episodes.coordinator, episodes.group_id,
    episodes.valid_from_seq AS episode, spans.topic, spans.partition, spans.held, spans.held_ms,
    spans.most_ms, 1.0 * spans.paused_records * spans.held_ms / nullif(spans.paused_ms, 0) AS came
  FROM rebalances AS episodes
  JOIN spans
    ON spans.cluster = episodes.cluster
    AND spans.coordinator = episodes.coordinator
    AND spans.group_id = episodes.group_id
    AND spans.event_seq BETWEEN episodes.valid_from_seq AND episodes.valid_to_seq
), places AS (
  SELECT cluster, coordinator, group_id, episode, topic, partition,
    sum(held_ms) AS least_ms,
    coalesce(sum(held_ms) FILTER (WHERE held = 'owner_crashed'), 0) AS crashed_ms,
    max(most_ms) AS most_ms,
    sum(came) AS came
  FROM belonging
  GROUP BY cluster, coordinator, group_id, episode, topic, partition
), lasting AS (
  SELECT DISTINCT episodes.cluster, episodes.coordinator, episodes.group_id,
    episodes.valid_from_seq AS episode
  FROM rebalances AS episodes
  JOIN consumption_pauses AS pauses
    ON pauses.cluster = episodes.cluster
    AND pauses.coordinator = episodes.coordinator
    AND pauses.group_id = episodes.group_id
    AND pauses.event_seq BETWEEN episodes.valid_from_seq AND episodes.valid_to_seq
  WHERE pauses.is_open
), costs AS (
  SELECT places.cluster, places.coordinator, places.group_id, places.episode,
    count(*) AS paused_partitions,
    sum(places.least_ms) AS least_ms,
    max(places.least_ms) AS max_least_ms,
    sum(places.crashed_ms) AS crashed_ms,
    max(places.most_ms) AS max_most_ms,
    CAST(round(sum(places.came)) AS BIGINT) AS records
  FROM places
  LEFT JOIN lasting
    ON lasting.cluster = places.cluster
    AND lasting.coordinator = places.coordinator
    AND lasting.group_id = places.group_id
    AND lasting.episode = places.episode
  WHERE lasting.episode IS NULL
  GROUP BY places.cluster, places.coordinator, places.group_id, places.episode
)
SELECT
  episodes.cluster,
  episodes.coordinator,
  episodes.group_id,
  episodes.valid_from_at AS began_at,
  episodes.valid_to_at AS ended_at,
  episodes.trigger,
  episodes.trigger_member_id,
  episodes.outcome,
  episodes.duration_ms,
  episodes.partitions,
  episodes.moved,
  episodes.reacquired,
  episodes.left_unowned,
  episodes.unowned_ms,
  episodes.max_unowned_ms,
  costs.paused_partitions,
  costs.least_ms,
  costs.max_least_ms,
  costs.crashed_ms,
  costs.max_most_ms,
  costs.records
FROM rebalances AS episodes
LEFT JOIN costs
  ON costs.cluster = episodes.cluster
  AND costs.coordinator = episodes.coordinator
  AND costs.group_id = episodes.group_id
  AND costs.episode = episodes.valid_from_seq
