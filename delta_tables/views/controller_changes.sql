-- When did the controller change, from whom to whom, how long was that term, and how long was there no controller?
WITH terms AS (
  SELECT *,
    lag(controller_id) OVER same AS former_id,
    lag(controller_epoch) OVER same AS former_epoch,
    lag(valid_from_at) OVER same AS former_from_at,
    lag(valid_to_at) OVER same AS former_to_at,
    lag(ended_by) OVER same AS former_ended_by
  FROM controller
  WHERE controller_id IS NOT NULL
  WINDOW same AS (PARTITION BY cluster ORDER BY valid_from_seq)
)
SELECT
  cluster,
  valid_from_at AS changed_at,
  former_id AS controller_before,
  controller_id,
  former_epoch AS epoch_before,
  controller_epoch,
  former_ended_by AS ended_by,
  CAST(former_to_at - former_from_at AS BIGINT) / 1000 AS reigned_ms,
  CAST(valid_from_at - former_to_at AS BIGINT) / 1000 AS nobody_ms,
  kraft_controller_epoch > 0 AS is_kraft
FROM terms
WHERE former_id IS NOT NULL
  AND (former_id <> controller_id OR coalesce(former_epoch <> controller_epoch, false))
