-- Which ISRs shrank in the last hour, who fell out, and how long until they were all back?
WITH states AS (
  SELECT *, lag(isr) OVER (PARTITION BY cluster, topic, partition, czxid ORDER BY valid_from_seq)
    AS isr_before
  FROM partition_state
  WHERE is_open OR valid_to_at > now() - INTERVAL '1 hour'
)
SELECT shrunk.topic, shrunk.partition, shrunk.valid_from_at AS shrunk_at, shrunk.isr_before,
  shrunk.isr, array_except(shrunk.isr_before, shrunk.isr) AS fell_out,
  min(whole.valid_from_at) - shrunk.valid_from_at AS back_after
FROM states AS shrunk
LEFT JOIN states AS whole
  ON whole.cluster = shrunk.cluster AND whole.topic = shrunk.topic
  AND whole.partition = shrunk.partition AND whole.czxid = shrunk.czxid
  AND whole.valid_from_seq > shrunk.valid_from_seq
  AND array_has_all(whole.isr, shrunk.isr_before)
WHERE array_length(shrunk.isr) < array_length(shrunk.isr_before)
GROUP BY shrunk.topic, shrunk.partition, shrunk.valid_from_at, shrunk.valid_from_seq,
  shrunk.isr_before, shrunk.isr
ORDER BY shrunk.valid_from_seq
