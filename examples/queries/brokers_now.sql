-- Which brokers are registered now, at which addresses, and since when?
SELECT broker_id, endpoints, rack, broker_epoch, valid_from_at AS since
FROM broker_membership
WHERE is_open
ORDER BY broker_id
