-- How often did partitions of each group change hands in the last day, and did they really move?
-- The old consumer lets go of everything and mostly takes the same again: that is no move.
WITH tenures AS (
  SELECT *, lag(owner) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition, broker_id
      ORDER BY valid_from_seq) AS before
  FROM ownership_history
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 day'
)
SELECT group_id, topic, count(DISTINCT partition) AS partitions, count(*) AS tenures,
  count(*) FILTER (WHERE owner = before) AS taken_again,
  count(*) FILTER (WHERE owner <> before) AS moved,
  avg(valid_to_at - valid_from_at) AS average_tenure
FROM tenures
GROUP BY cluster, coordinator, group_id, topic
ORDER BY moved DESC, group_id, topic
