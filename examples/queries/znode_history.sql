-- What did one znode hold in the last week, version by version?
-- Change: the path.
SELECT seq, op, observed_at, stat['version'] AS version, zxid, fidelity, data
FROM znode_events
WHERE path = '/brokers/topics/orders' AND observed_on > current_date - INTERVAL '7 days'
ORDER BY seq
