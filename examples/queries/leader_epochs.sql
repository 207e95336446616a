-- Which partitions changed leader most often, by leader epoch, and was every change seen?
-- A leader epoch grows with every decision of a controller; an unseen one was overwritten at once.
WITH states AS (
  SELECT *, leader_epoch - lag(leader_epoch) OVER (
      PARTITION BY cluster, topic, partition, czxid ORDER BY valid_from_seq) AS step
  FROM partition_state
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 day'
)
SELECT topic, partition, max(leader_epoch) AS leader_epoch, sum(step) AS decisions,
  max(step) AS highest_jump, sum(unseen_versions) AS unseen_versions
FROM states
GROUP BY cluster, topic, partition, czxid
HAVING sum(step) > 0
ORDER BY decisions DESC, topic, partition
