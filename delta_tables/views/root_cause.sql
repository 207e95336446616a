-- Why did the lag of a group rise: how many records did each cause add?
-- One row per rise and cause, the one that added most at rank 1; the records of a rise add up to it.
-- A rise goes from the lowest lag to the highest, each the extreme of two minutes before and after.
-- Lag counts where it is known: at commits, and in pauses; between two commits of a reader that goes
-- on it is not. What was added while a pause held goes to what held; the rest to producers above and
-- readers below their own pace of the ten minutes before. What neither explains is said to be left.
-- peak_lag is the highest lag that pages show in that time, commits that are due included.
-- source_table and source_seq name a row behind: its valid_from_seq.
WITH points AS (
  -- Rows from before zklake counted points hold the last sample of a minute, dated to its first.
  SELECT cluster, coordinator, group_id, topic, partition, incarnation, valid_from_seq AS seq,
    date_part('epoch', CASE WHEN points IS NULL THEN sampled_at ELSE valid_from_at END) AS at,
    date_part('epoch', CASE WHEN points > 1 THEN valid_from_at ELSE sampled_at END) AS held_until,
    lag, log_end_offset, committed_offset, owner_member_id, NULL AS paused_to, NULL AS away
  FROM offset_lag
  WHERE lag IS NOT NULL
  UNION ALL
  -- A row that stands for several rounds ends with other numbers than it began with.
  SELECT cluster, coordinator, group_id, topic, partition, incarnation, valid_from_seq,
    date_part('epoch', sampled_at), date_part('epoch', sampled_at), lag_last,
    log_end_offset_last, committed_offset_last, owner_member_id, NULL, NULL
  FROM offset_lag
  WHERE lag_last IS NOT NULL AND points > 1
  UNION ALL
  -- Where no row followed, nothing was left to read, and what came later began anew.
  SELECT cluster, coordinator, group_id, topic, partition, incarnation, valid_to_seq,
    date_part('epoch', valid_to_at), date_part('epoch', valid_to_at), 0, NULL, NULL, NULL, NULL,
    NULL
  FROM offset_lag
  WHERE ended_by <> 'changed'
  UNION ALL
  SELECT cluster, coordinator, group_id, topic, partition, NULL, valid_from_seq,
    date_part('epoch', valid_from_at), NULL, NULL, NULL, NULL, NULL,
    coalesce(date_part('epoch', valid_to_at), 1e12), NULL
  FROM consumption_pauses
  UNION ALL
  -- Without a leader nobody can write either: what producers held back comes when it is back.
  SELECT o.cluster, o.coordinator, o.group_id, o.topic, o.partition, NULL, p.valid_from_seq,
    date_part('epoch', p.valid_from_at), NULL, NULL, NULL, NULL, NULL, NULL,
    named_struct(
      'seq', p.valid_from_seq,
      'from_at', date_part('epoch', p.valid_from_at),
      'to_at', coalesce(date_part('epoch', p.valid_to_at), 1e12),
      'entity', 'broker ' || CASE WHEN cardinality(p.isr) = 1 THEN CAST(p.isr[1] AS TEXT)
        ELSE 'unknown' END
    )
  FROM offset_lag AS o
  JOIN partition_state AS p
    ON p.cluster = o.cluster AND p.topic = o.topic AND p.partition = o.partition
    AND p.valid_from_at <= coalesce(o.valid_to_at, p.valid_from_at)
    AND o.valid_from_at <= coalesce(p.valid_to_at, o.valid_from_at)
  WHERE o.lag IS NULL AND o.reason = 'LEADER_NOT_AVAILABLE' AND p.leader = -1
), followed AS (
  -- Every point with the last pause that began before it, and the offset before it.
  SELECT * FROM (
    SELECT *,
      last_value(paused_to) IGNORE NULLS OVER so_far AS held_to,
      last_value(away) IGNORE NULLS OVER so_far AS away_by,
      lag(committed_offset) OVER points AS committed_before,
      row_number() OVER points AS place
    FROM points
    WINDOW so_far AS (
      PARTITION BY cluster, coordinator, group_id, topic, partition ORDER BY at, seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ), points AS (
      PARTITION BY cluster, coordinator, group_id, topic, partition,
        paused_to IS NULL AND away IS NULL
      ORDER BY at, seq
    )
  )
  WHERE paused_to IS NULL AND away IS NULL
), marked AS (
  SELECT *,
    CASE WHEN place = 1 OR committed_offset IS NULL OR committed_before IS NULL
      OR committed_offset <> committed_before OR held_to >= at
      THEN named_struct(
        'at', at, 'held_until', held_until, 'lag', lag, 'log_end', log_end_offset,
        'committed', committed_offset, 'incarnation', incarnation
      ) END AS known,
    lag - coalesce(lag(lag) OVER same, 0) AS change,
    min(at) OVER (PARTITION BY cluster, coordinator, group_id, topic, partition) AS born_at
  FROM followed
  WINDOW same AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition ORDER BY at, seq
  )
), paired AS (
  SELECT *,
    last_value(known) IGNORE NULLS OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition ORDER BY at, seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS former
  FROM marked
), steps AS (
  -- From one known point of a partition to the next. Of another incarnation, or the first of all:
  -- nobody knows what was written and read before.
  SELECT cluster, coordinator, group_id, topic, partition, seq, at, owner_member_id, away_by,
    born_at, change,
    least(at, coalesce(former['held_until'], at)) AS from_at,
    CASE WHEN known IS NULL THEN 0 ELSE lag - coalesce(former['lag'], 0) END AS added,
    CASE WHEN known IS NOT NULL AND former['incarnation'] IS NOT DISTINCT FROM incarnation
      THEN log_end_offset - former['log_end'] END AS produced,
    CASE WHEN known IS NOT NULL AND former['incarnation'] IS NOT DISTINCT FROM incarnation
      THEN committed_offset - former['committed'] END AS consumed
  FROM paired
), totals AS (
  -- Of the group, at every point: the lag that is known, and the one that pages show.
  SELECT *,
    sum(added) OVER so_far AS total,
    sum(change) OVER so_far AS shown,
    coalesce(sum(produced) OVER lately, 0) AS lately_produced,
    coalesce(sum(greatest(consumed, 0)) OVER lately, 0) AS lately_consumed
  FROM steps
  WINDOW so_far AS (
    PARTITION BY cluster, coordinator, group_id ORDER BY at
    RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ), lately AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition ORDER BY at
    RANGE BETWEEN 600 PRECEDING AND CURRENT ROW
  )
), extremes AS (
  SELECT *,
    CASE WHEN total = min(total) OVER (
      PARTITION BY cluster, coordinator, group_id ORDER BY at
      RANGE BETWEEN 120 PRECEDING AND 120 FOLLOWING
    ) THEN at END AS low_at,
    lag(at) OVER same AS before_at,
    lag(lately_produced) OVER same AS before_produced,
    lag(lately_consumed) OVER same AS before_consumed
  FROM totals
  WINDOW same AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition ORDER BY at, seq
  )
), parted AS (
  SELECT *,
    max(low_at) OVER (
      PARTITION BY cluster, coordinator, group_id ORDER BY at
      RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS trough_at
  FROM extremes
), topped AS (
  SELECT *,
    first_value(total) OVER (
      PARTITION BY cluster, coordinator, group_id, trough_at ORDER BY at
    ) AS lag_before,
    first_value(total) OVER highest AS lag_after,
    first_value(at) OVER highest AS peak_at,
    -- A pace of the ten minutes before; not known of what is younger than a minute.
    first_value(CASE WHEN trough_at - born_at < 60 THEN NULL WHEN at = trough_at
      THEN lately_produced WHEN before_at > trough_at - 600 THEN before_produced ELSE 0 END)
      OVER mine / least(600, trough_at - born_at) AS pace_produced,
    first_value(CASE WHEN trough_at - born_at < 60 THEN NULL WHEN at = trough_at
      THEN lately_consumed WHEN before_at > trough_at - 600 THEN before_consumed ELSE 0 END)
      OVER mine / least(600, trough_at - born_at) AS pace_consumed
  FROM parted
  WINDOW highest AS (
    PARTITION BY cluster, coordinator, group_id, trough_at ORDER BY total DESC, at
  ), mine AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition, trough_at ORDER BY at, seq
  )
), rising AS (
  SELECT *,
    -- What was added by then and never caught up before the peak: the least of all that followed.
    min(so_far) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition, trough_at ORDER BY at, seq
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    ) AS stayed
  FROM (
    SELECT *,
      sum(added) OVER (
        PARTITION BY cluster, coordinator, group_id, topic, partition, trough_at ORDER BY at, seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS so_far
    FROM topped
    WHERE lag_after > lag_before AND at > trough_at AND at <= peak_at
  )
), kept AS (
  -- Of each step, what of it is left at the peak; what was caught up again is nobody's doing.
  SELECT *,
    stayed - coalesce(lag(stayed) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition, trough_at ORDER BY at, seq
    ), least(0, stayed)) AS grown
  FROM rising
), pauses AS (
  SELECT cluster, coordinator, group_id, topic, partition, valid_from_seq AS pause_seq, spans,
    date_part('epoch', valid_from_at) AS paused_from,
    coalesce(date_part('epoch', valid_to_at), 1e12) AS paused_to,
    held, owner_member_id AS member_id, broker_id,
    -- Nobody read for so much of it at least. Where that is most of it, or it still lasts, all of
    -- it counts: readers need a commit more to show that they are back.
    CASE WHEN least_ms * 2 < most_ms THEN CAST(least_ms AS DOUBLE) / most_ms ELSE 1.0 END AS idle
  FROM consumption_pauses
), spans AS (
  SELECT *, span['from_ms'] / 1000.0 AS span_from, span['to_ms'] / 1000.0 AS span_to,
    lead(span['from_ms']) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition, pause_seq, paused_from
      ORDER BY span['from_ms']
    ) / 1000.0 AS next_from
  FROM (SELECT *, unnest(spans) AS span FROM pauses)
), holds AS (
  -- What held when, one thing at a time; what lies between goes to what held longest.
  SELECT cluster, coordinator, group_id, topic, partition, pause_seq, idle, held_from, held_to,
    held, CASE
      WHEN held IN ('owner_crashed', 'owner_stuck') THEN 'member ' || coalesce(member_id, 'unknown')
      WHEN held = 'leader_away' THEN 'broker ' || coalesce(CAST(broker_id AS TEXT), 'unknown')
      ELSE 'group ' || group_id
    END AS entity
  FROM (
    SELECT cluster, coordinator, group_id, topic, partition, pause_seq, idle, span['held'] AS held,
      span['owner_member_id'] AS member_id, span['broker_id'] AS broker_id,
      span_from AS held_from, span_to AS held_to
    FROM spans
    UNION ALL
    SELECT cluster, coordinator, group_id, topic, partition, pause_seq, idle, held, member_id,
      broker_id, span_to, coalesce(next_from, paused_to)
    FROM spans
    UNION ALL
    SELECT cluster, coordinator, group_id, topic, partition, pause_seq, idle, held, member_id,
      broker_id, paused_from, coalesce(spans[1]['from_ms'] / 1000.0, paused_to)
    FROM pauses
  )
  WHERE held_from < held_to
), risen AS (
  SELECT k.cluster, k.coordinator, k.group_id, k.topic, k.partition, k.seq, k.at, from_at, grown,
    produced, consumed, owner_member_id, away_by, shown, lag_before, lag_after, trough_at, peak_at,
    pace_produced, pace_consumed,
    CASE WHEN produced IS NULL THEN grown ELSE 0 END AS began,
    CASE WHEN consumed < 0 THEN least(grown, -consumed) ELSE 0 END AS set_back,
    -- Which part of the step lay in a pause, and what held in it.
    least(1.0, coalesce(
      sum(idle * (least(k.at, held_to) - greatest(from_at, held_from)) / (k.at - from_at)), 0.0
    )) AS paused,
    array_agg(named_struct('cause', held, 'entity', entity,
      'records', idle * (least(k.at, held_to) - greatest(from_at, held_from)) / (k.at - from_at),
      'source', 'consumption_pauses', 'seq', pause_seq, 'since', held_from
    )) AS holders,
    -- Which part of it had no leader.
    CASE WHEN k.at > from_at AND away_by['to_at'] > from_at
      THEN (least(k.at, away_by['to_at']) - greatest(from_at, away_by['from_at']))
        / (k.at - from_at)
      ELSE 0.0 END AS away
  FROM kept AS k
  LEFT JOIN holds AS h
    ON h.cluster = k.cluster AND h.coordinator = k.coordinator AND h.group_id = k.group_id
    AND h.topic = k.topic AND h.partition = k.partition
    AND h.held_from < k.at AND h.held_to > k.from_at AND k.from_at < k.at
  GROUP BY k.cluster, k.coordinator, k.group_id, k.topic, k.partition, k.seq, k.at, from_at, grown,
    produced, consumed, owner_member_id, away_by, shown, lag_before, lag_after, trough_at, peak_at,
    pace_produced, pace_consumed
), barred AS (
  SELECT *, greatest(paused, away) AS held FROM risen
), measured AS (
  SELECT *,
    (grown - set_back - began) * (held - paused) AS in_absence,
    (grown - set_back - began) * (1.0 - held) AS free,
    greatest(0, sum(coalesce(produced, 0) * (1.0 - held)) OVER mine
      - pace_produced * sum((at - from_at) * (1.0 - held)) OVER mine) AS more,
    greatest(0, pace_consumed * sum((at - from_at) * (1.0 - held)) OVER mine
      - sum(greatest(coalesce(consumed, 0), 0) * (1.0 - held)) OVER mine) AS less,
    -- What producers would have written meanwhile.
    pace_produced * sum((at - from_at) * away) OVER mine AS held_back,
    max(shown) OVER rise AS peak_lag,
    min(CASE WHEN grown > 0 THEN from_at END) OVER rise AS rise_from,
    -- What other partitions caught up is taken off every cause alike.
    (lag_after - lag_before) / CAST(sum(grown) OVER rise AS DOUBLE) AS net
  FROM barred
  WINDOW mine AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition, trough_at
  ), rise AS (PARTITION BY cluster, coordinator, group_id, trough_at)
), shared AS (
  SELECT *,
    coalesce(free / nullif(greatest(sum(free) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition, trough_at
    ), more + less), 0), 0.0) AS part_free,
    least(more, coalesce(held_back, 0)) AS owed
  FROM measured
), parts AS (
  SELECT cluster, coordinator, group_id, topic, partition, trough_at, peak_at, rise_from,
    lag_before, lag_after, peak_lag, at, from_at, net,
    grown - set_back - began AS others, unnest(array_concat(holders, make_array(
      named_struct('cause', 'offsets_set_back', 'entity', topic || '-' || partition,
        'records', CAST(set_back AS DOUBLE), 'source', 'offset_lag', 'seq', seq,
        'since', from_at),
      named_struct('cause', 'began_behind', 'entity', topic || '-' || partition,
        'records', CAST(began AS DOUBLE), 'source', 'offset_lag', 'seq', seq, 'since', at),
      named_struct('cause', 'leader_away', 'entity', coalesce(away_by['entity'], ''),
        'records', in_absence + coalesce(part_free * owed, 0.0), 'source', 'partition_state',
        'seq', away_by['seq'], 'since', away_by['from_at']),
      named_struct('cause', 'producers_faster', 'entity', 'topic ' || topic, 'records',
        coalesce(part_free * (more - owed), 0.0),
        'source', 'offset_lag', 'seq', seq, 'since', from_at),
      named_struct('cause', 'readers_slower',
        'entity', 'member ' || coalesce(owner_member_id, 'unknown'), 'records',
        coalesce(part_free * less, 0.0),
        'source', 'offset_lag', 'seq', seq, 'since', from_at),
      named_struct('cause', 'left', 'entity', 'group ' || group_id, 'records', 0.0,
        'source', NULL, 'seq', NULL, 'since', from_at)
    ))) AS part
  FROM shared
), weighed AS (
  -- Of a pause only the part that it held is known so far.
  SELECT *, part['records'] * net
    * CASE WHEN part['source'] = 'consumption_pauses' THEN others ELSE 1.0 END AS records
  FROM parts
), causes AS (
  SELECT cluster, coordinator, group_id, trough_at, peak_at, rise_from, lag_before, lag_after,
    peak_lag, part['cause'] AS cause, part['entity'] AS entity,
    CAST(round(sum(records)) AS BIGINT) AS records,
    min(part['since']) AS began_at, max(at) AS ended_at,
    array_sort(array_distinct(array_agg(topic || '-' || partition))) AS partitions,
    first_value(part['source'] ORDER BY records DESC, part['seq']) AS source_table,
    first_value(part['seq'] ORDER BY records DESC, part['seq']) AS source_seq
  FROM weighed
  WHERE records > 0 OR part['cause'] = 'left'
  GROUP BY cluster, coordinator, group_id, trough_at, peak_at, rise_from, lag_before, lag_after,
    peak_lag, part['cause'], part['entity']
), counted AS (
  SELECT *,
    CASE WHEN cause = 'left' THEN lag_after - lag_before - sum(records) OVER (
      PARTITION BY cluster, coordinator, group_id, trough_at
    ) ELSE records END AS added_by
  FROM causes
)
SELECT cluster, coordinator, group_id,
  to_timestamp_micros(CAST(coalesce(rise_from, trough_at) * 1000000 AS BIGINT)) AS rise_from,
  to_timestamp_micros(CAST(peak_at * 1000000 AS BIGINT)) AS rise_to,
  lag_before, lag_after, lag_after - lag_before AS added, peak_lag,
  row_number() OVER (
    PARTITION BY cluster, coordinator, group_id, trough_at
    ORDER BY cause = 'left', added_by DESC, cause, entity
  ) AS rank,
  cause, entity, added_by AS records,
  added_by / CAST(lag_after - lag_before AS DOUBLE) AS share,
  to_timestamp_micros(CAST(began_at * 1000000 AS BIGINT)) AS began_at,
  to_timestamp_micros(CAST(ended_at * 1000000 AS BIGINT)) AS ended_at,
  partitions, source_table, source_seq
FROM counted
WHERE added_by <> 0
