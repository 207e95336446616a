-- When was a partition under-replicated, for how long, and which replicas were missing?
-- One row per unbroken time in which the ISR was smaller than the assignment; open: up to now.
WITH assigned AS (
  SELECT cluster, topic, unnest(map_keys(replicas)) AS partition,
    unnest(map_values(replicas)) AS replicas, valid_from_seq, valid_to_seq, valid_from_at
  FROM topics
  WHERE broker_id IS NULL
), times AS (
  -- Every time in which both the state and the assignment stayed what they were.
  SELECT
    states.cluster,
    states.topic,
    states.partition,
    greatest(states.valid_from_seq, assigned.valid_from_seq) AS from_seq,
    least(states.valid_to_seq, assigned.valid_to_seq) AS to_seq,
    CASE WHEN assigned.valid_from_seq > states.valid_from_seq THEN assigned.valid_from_at
      ELSE states.valid_from_at END AS from_at,
    array_length(states.isr) < array_length(assigned.replicas) AS is_short,
    array_except(assigned.replicas, states.isr) AS missing
  FROM partition_state AS states
  JOIN assigned
    ON assigned.cluster = states.cluster
    AND assigned.topic = states.topic
    AND assigned.partition = states.partition
    AND assigned.valid_from_seq < coalesce(states.valid_to_seq, assigned.valid_from_seq + 1)
    AND states.valid_from_seq < coalesce(assigned.valid_to_seq, states.valid_from_seq + 1)
  WHERE states.isr IS NOT NULL AND assigned.replicas IS NOT NULL
), ends AS (
  SELECT cluster, topic, partition, valid_to_seq AS seq, max(valid_to_at) AS at
  FROM partition_state
  WHERE NOT is_open
  GROUP BY cluster, topic, partition, valid_to_seq
), marked AS (
  SELECT *,
    is_short AND NOT coalesce(lag(is_short) OVER same AND lag(to_seq) OVER same = from_seq, false)
      AS begins,
    lead(from_at) OVER same AS next_at,
    lead(from_seq) OVER same AS next_seq
  FROM times
  WINDOW same AS (PARTITION BY cluster, topic, partition ORDER BY from_seq)
), numbered AS (
  SELECT *,
    sum(CASE WHEN begins THEN 1 ELSE 0 END) OVER (
      PARTITION BY cluster, topic, partition ORDER BY from_seq
    ) AS episode
  FROM marked
), episodes AS (
  SELECT
    cluster,
    topic,
    partition,
    min(from_at) AS from_at,
    last_value(to_seq ORDER BY from_seq) AS to_seq,
    last_value(CASE WHEN next_seq = to_seq THEN next_at END ORDER BY from_seq) AS next_at,
    array_sort(array_distinct(flatten(array_agg(missing)))) AS missing,
    count(*) AS states
  FROM numbered
  WHERE is_short
  GROUP BY cluster, topic, partition, episode
)
SELECT
  episodes.cluster,
  episodes.topic,
  episodes.partition,
  episodes.from_at AS short_from,
  coalesce(episodes.next_at, ends.at) AS short_to,
  CAST(
    coalesce(episodes.next_at, ends.at, to_timestamp_micros(now())) - episodes.from_at AS BIGINT
  ) / 1000 AS short_ms,
  episodes.missing,
  episodes.states
FROM episodes
LEFT JOIN ends
  ON ends.cluster = episodes.cluster
  AND ends.topic = episodes.topic
  AND ends.partition = episodes.partition
  AND ends.seq = episodes.to_seq
