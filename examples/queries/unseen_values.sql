-- Which values were not seen in the last week: overwritten at once, or redacted?
SELECT kind, fidelity, count(*) AS changes, min(observed_at) AS first_at,
  max(observed_at) AS last_at
FROM znode_events
WHERE op IN ('create', 'set') AND fidelity <> 'exact'
  AND observed_on > current_date - INTERVAL '7 days'
GROUP BY cluster, kind, fidelity
ORDER BY changes DESC, kind
