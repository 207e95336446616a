-- How many brokers are registered in each rack?
SELECT cluster, rack, count(*) AS brokers
FROM broker_membership
WHERE is_open
GROUP BY cluster, rack
