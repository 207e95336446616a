-- Which ZooKeeper sessions ended in the last day, and what went with each of them?
-- A broker that was the controller, or a member that owned partitions, loses all of it at once.
WITH ends AS (
  SELECT cluster, session, valid_to_at, 'broker ' || broker_id AS thing
  FROM broker_membership WHERE ended_by = 'session_ended'
  UNION ALL
  SELECT cluster, session, valid_to_at, 'controller'
  FROM controller WHERE ended_by = 'session_ended'
  UNION ALL
  SELECT cluster, session, valid_to_at, 'member ' || member_id
  FROM consumer_membership WHERE ended_by = 'session_ended'
  UNION ALL
  SELECT cluster, session, valid_to_at, topic || '-' || partition
  FROM ownership_history WHERE ended_by = 'session_ended'
)
SELECT '0x' || to_hex(session) AS session, min(valid_to_at) AS ended_at, count(*) AS ephemerals,
  array_agg(thing ORDER BY thing) AS went
FROM ends
WHERE valid_to_at > now() - INTERVAL '1 day'
GROUP BY cluster, session
HAVING count(*) > 1
ORDER BY ended_at
