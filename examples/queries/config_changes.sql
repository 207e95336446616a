-- Which configs were changed, when, and what were they before and after?
-- A value that is withheld (a password) is null before and after.
WITH states AS (
  SELECT *, lag(value) OVER same AS value_before,
    coalesce(lag(valid_to_seq) OVER same = valid_from_seq, false) AS is_next
  FROM config_history
  WHERE config_key IS NOT NULL
  WINDOW same AS (
    PARTITION BY cluster, entity_type, entity_name, client_id, config_key ORDER BY valid_from_seq)
)
SELECT valid_from_at AS changed_at, entity_type, entity_name, config_key,
  CASE WHEN is_next THEN 'changed' ELSE 'set' END AS what,
  CASE WHEN is_next THEN value_before END AS before, value AS after, is_redacted
FROM states
UNION ALL
SELECT valid_to_at, entity_type, entity_name, config_key, ended_by, value, NULL, is_redacted
FROM states
WHERE ended_by IN ('removed', 'deleted')
ORDER BY changed_at, entity_type, entity_name, config_key
