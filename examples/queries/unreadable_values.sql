-- Which records and which values could not be read, and why?
SELECT 'quarantine' AS found_in, kafka_at AS at, reason, 'offset ' || kafka_offset AS what
FROM quarantine
UNION ALL
SELECT 'broker_membership', valid_from_at, decode_error, 'broker ' || broker_id
FROM broker_membership WHERE decode_error IS NOT NULL
UNION ALL
SELECT 'topics', valid_from_at, decode_error, topic
FROM topics WHERE decode_error IS NOT NULL
UNION ALL
SELECT 'partition_state', valid_from_at, decode_error, topic || '-' || partition
FROM partition_state WHERE decode_error IS NOT NULL
UNION ALL
SELECT 'consumer_membership', valid_from_at, decode_error, member_id
FROM consumer_membership WHERE decode_error IS NOT NULL
UNION ALL
SELECT 'consumer_offsets', valid_from_at, decode_error, group_id || ' ' || topic || '-' || partition
FROM consumer_offsets WHERE decode_error IS NOT NULL
UNION ALL
SELECT 'config_history', valid_from_at, decode_error, entity_type || ' ' || entity_name
FROM config_history WHERE decode_error IS NOT NULL
ORDER BY at
