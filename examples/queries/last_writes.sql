-- When was something of each kind last written in the last week, and what?
SELECT kind, count(*) AS writes, max(observed_at) AS last_at,
  last_value(op ORDER BY seq) AS last_op,
  last_value(path ORDER BY seq) AS last_path
FROM znode_events
WHERE op IN ('create', 'set', 'delete') AND observed_on > current_date - INTERVAL '7 days'
GROUP BY cluster, kind
ORDER BY last_at DESC
