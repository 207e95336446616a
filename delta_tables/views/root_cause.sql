-- Why did the lag of a group rise: what happened then to its members, brokers, topics and configs?
-- One row per rise and possible cause, the likeliest at rank 1. A cause shares the group, a topic, a
-- partition or a leading broker with the rise and comes shortly before it, or while it grows; score
-- is how directly such a thing makes lag, less with every minute between the two. One row always
-- says whether producers wrote more or consumers read less: where nothing happened, it is the first.
-- source_table and source_seq name the row behind: its valid_from_seq or valid_to_seq.
WITH points AS (
  SELECT
    cluster, coordinator, group_id, topic, partition, valid_from_seq, at,
    lag - coalesce(lag(lag) OVER (
      PARTITION BY cluster, coordinator, group_id, topic, partition ORDER BY valid_from_seq
    ), 0) AS change,
    lag(at) OVER same AS from_at,
    CASE WHEN log_end_offset IS NOT NULL AND lag(log_end_offset) OVER same IS NOT NULL
      THEN lag - lag(lag) OVER same END AS added,
    log_end_offset - lag(log_end_offset) OVER same AS produced,
    committed_offset - lag(committed_offset) OVER same AS consumed
  FROM (
    SELECT cluster, coordinator, group_id, topic, partition, incarnation, valid_from_seq,
      sampled_at AS at, lag, log_end_offset, committed_offset
    FROM offset_lag
    WHERE lag IS NOT NULL
    UNION ALL
    -- Where no row followed, nothing was left to read, and what came later began anew.
    SELECT cluster, coordinator, group_id, topic, partition, incarnation, valid_to_seq,
      to_timestamp_micros(valid_to_at), 0, NULL, NULL
    FROM offset_lag
    WHERE ended_by <> 'changed'
  )
  WINDOW same AS (
    PARTITION BY cluster, coordinator, group_id, topic, partition, incarnation
    ORDER BY valid_from_seq
  )
), moments AS (
  SELECT cluster, coordinator, group_id, at,
    sum(change) AS change,
    coalesce(sum(added), 0) AS added,
    coalesce(sum(produced), 0) AS produced,
    coalesce(sum(consumed), 0) AS consumed,
    coalesce(sum(consumed) FILTER (WHERE added > 0), 0) AS consumed_there,
    min(from_at) FILTER (WHERE added > 0) AS from_at,
    min(coalesce(from_at, at)) AS began_at,
    array_agg('partition ' || topic || ' ' || partition) FILTER (WHERE added > 0) AS partitions,
    array_agg('topic ' || topic) FILTER (WHERE added > 0) AS topics,
    sum(-consumed) FILTER (WHERE added > 0 AND consumed < 0) AS rewound,
    min(valid_from_seq) FILTER (WHERE added > 0 AND consumed < 0) AS rewound_seq
  FROM points
  GROUP BY cluster, coordinator, group_id, at
), totals AS (
  SELECT *,
    sum(change) OVER so_far AS total,
    sum(produced) OVER so_far AS all_produced,
    sum(consumed) OVER so_far AS all_consumed,
    lag(at) OVER (PARTITION BY cluster, coordinator, group_id ORDER BY at) AS former_at
  FROM moments
  WINDOW so_far AS (
    PARTITION BY cluster, coordinator, group_id ORDER BY at
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
), paced AS (
  -- What was produced and consumed in the ten minutes before.
  SELECT *,
    first_value(began_at) OVER lately AS pace_at,
    all_produced - produced - first_value(all_produced - produced) OVER lately AS produced_before,
    all_consumed - consumed - first_value(all_consumed - consumed) OVER lately AS consumed_before
  FROM totals
  WINDOW lately AS (
    PARTITION BY cluster, coordinator, group_id ORDER BY at
    RANGE BETWEEN INTERVAL '10 minutes' PRECEDING AND CURRENT ROW
  )
), turns AS (
  SELECT *,
    CASE WHEN added > 0 AND coalesce(
      lag(added) OVER (PARTITION BY cluster, coordinator, group_id ORDER BY at), 0
    ) <= 0 THEN 1 ELSE 0 END AS begins
  FROM paced
  WHERE added <> 0
), numbered AS (
  SELECT *,
    sum(begins) OVER (
      PARTITION BY cluster, coordinator, group_id ORDER BY at
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS rise
  FROM turns
), rises AS (
  SELECT cluster, coordinator, group_id, rise,
    first_value(from_at ORDER BY at) AS from_at,
    min(at) AS risen_at,
    max(at) AS to_at,
    first_value(from_at ORDER BY added DESC, at) AS steep_from_at,
    first_value(at ORDER BY added DESC, at) AS steep_at,
    first_value(total - added ORDER BY at) AS lag_before,
    sum(added) AS added,
    sum(produced) AS produced,
    sum(consumed) AS consumed,
    sum(consumed_there) AS consumed_there,
    first_value(produced_before ORDER BY at) AS produced_before,
    first_value(consumed_before ORDER BY at) AS consumed_before,
    first_value(CAST(former_at - pace_at AS BIGINT) ORDER BY at) AS pace_us,
    sum(rewound) AS rewound,
    min(at) FILTER (WHERE rewound > 0) AS rewound_at,
    min(rewound_seq) AS rewound_seq,
    array_distinct(flatten(array_agg(partitions))) AS partitions,
    array_distinct(flatten(array_agg(topics))) AS topics
  FROM numbered
  WHERE added > 0
  GROUP BY cluster, coordinator, group_id, rise
  HAVING sum(added) * 2 >= first_value(total - added ORDER BY at)
), spells AS (
  -- A status is known only once its cause has lasted: often after the lag has risen.
  SELECT cluster, coordinator, group_id, status, status_since,
    'partition ' || topic || ' ' || partition AS place,
    min(valid_from_seq) AS seq,
    max(coalesce(valid_to_at, to_timestamp_micros(now()))) AS until_at
  FROM offset_lag
  WHERE status IN ('STALLED', 'STOPPED', 'UNOWNED')
  GROUP BY cluster, coordinator, group_id, topic, partition, status, status_since
), held AS (
  SELECT rises.cluster, rises.coordinator, rises.group_id, rises.rise,
    min(status_since) FILTER (WHERE status = 'STALLED') AS stalled_at,
    min(seq) FILTER (WHERE status = 'STALLED') AS stalled_seq,
    min(status_since) FILTER (WHERE status = 'STOPPED') AS stopped_at,
    min(seq) FILTER (WHERE status = 'STOPPED') AS stopped_seq,
    min(status_since) FILTER (WHERE status = 'UNOWNED') AS unowned_at,
    min(seq) FILTER (WHERE status = 'UNOWNED') AS unowned_seq
  FROM rises
  JOIN spells
    ON spells.cluster = rises.cluster
    AND spells.coordinator = rises.coordinator
    AND spells.group_id = rises.group_id
  WHERE spells.status_since <= rises.to_at
    AND spells.until_at >= rises.from_at
    AND array_has(rises.partitions, spells.place)
  GROUP BY rises.cluster, rises.coordinator, rises.group_id, rises.rise
), keyed AS (
  SELECT rises.*, held.stalled_at, held.stalled_seq, held.stopped_at, held.stopped_seq,
    held.unowned_at, held.unowned_seq,
    unnest(array_concat(
      partitions,
      topics,
      make_array(
        'always',
        'group ' || rises.coordinator || ' ' || rises.group_id,
        'client ' || rises.group_id
      ),
      array_distinct(make_array(
        'hour ' || date_trunc('hour', from_at - INTERVAL '5 minutes'),
        'hour ' || date_trunc('hour', risen_at)
      ))
    )) AS shared
  FROM rises
  LEFT JOIN held
    ON held.cluster = rises.cluster
    AND held.coordinator = rises.coordinator
    AND held.group_id = rises.group_id
    AND held.rise = rises.rise
), leaderships AS (
  SELECT cluster, topic, partition, leader, valid_from_at, valid_to_at, is_open, valid_from_seq,
    lag(leader) OVER (PARTITION BY cluster, topic, partition, czxid ORDER BY valid_from_seq)
      AS leader_before
  FROM partition_state
  WHERE leader IS NOT NULL
), at_brokers AS (
  -- What befell a broker befell every partition that it led.
  SELECT cluster, broker_id, 'broker_left' AS cause, 92.0 AS weight, valid_to_at AS at,
    'it led what this group reads (' || ended_by || ')' AS evidence,
    'broker_membership' AS source_table, valid_to_seq AS seq
  FROM broker_membership
  WHERE NOT is_open AND ended_by NOT IN ('changed', 'unreadable', 'migrated')
  UNION ALL
  SELECT cluster, CAST(entity_name AS INT), 'config_changed', 50.0, valid_from_at,
    config_key || ' is ' || coalesce(value, '(withheld)'), 'config_history', valid_from_seq
  FROM config_history
  WHERE entity_type = 'brokers' AND regexp_like(entity_name, '^[0-9]{1,9}$')
    AND config_key IS NOT NULL
), events AS (
  SELECT at_brokers.cluster, at_brokers.cause, at_brokers.weight, at_brokers.at,
    at_brokers.at AS until_at,
    'partition ' || leaderships.topic || ' ' || leaderships.partition AS shared,
    'broker ' || at_brokers.broker_id AS entity, at_brokers.evidence, at_brokers.source_table,
    at_brokers.seq, at_brokers.seq AS each, 0 AS attempts
  FROM at_brokers
  JOIN leaderships
    ON leaderships.cluster = at_brokers.cluster
    AND leaderships.leader = at_brokers.broker_id
    AND leaderships.valid_from_at <= at_brokers.at
    -- Before a clean stop the leaders are moved away.
    AND (
      leaderships.is_open OR leaderships.valid_to_at >= at_brokers.at - INTERVAL '1 minute'
    )
  UNION ALL
  SELECT cluster, 'member_lost', 90.0, valid_to_at, valid_to_at AS until_at,
    'group ' || coordinator || ' ' || group_id, 'member ' || member_id,
    'it left (' || ended_by || ')', 'consumer_membership', valid_to_seq, 0, 0
  FROM consumer_membership
  WHERE NOT is_open AND ended_by NOT IN ('changed', 'unreadable')
  UNION ALL
  SELECT cluster, 'member_came', 0.0, valid_from_at, valid_from_at AS until_at,
    'group ' || coordinator || ' ' || group_id, 'member ' || member_id,
    'it came', 'consumer_membership', valid_from_seq, 0, 0
  FROM consumer_membership
  UNION ALL
  SELECT cluster, CASE WHEN outcome = 'failed' THEN 'rebalance_failed' ELSE 'rebalance' END,
    CASE WHEN outcome = 'failed' THEN 88.0 ELSE 70.0 END,
    valid_from_at, coalesce(valid_to_at, to_timestamp_micros(now())),
    'group ' || coordinator || ' ' || group_id, 'the group',
    concat(
      trigger,
      coalesce(' (' || coalesce(trigger_member_id, trigger_topic) || ')', ''),
      ', ', outcome,
      coalesce(', ' || moved || ' partitions moved', ''),
      coalesce(', unowned up to ' || max_unowned_ms || ' ms', '')
    ),
    'rebalances', valid_from_seq, valid_from_seq AS each, greatest(coalesce(attempts, 1), 1)
  FROM rebalances
  UNION ALL
  SELECT cluster, 'config_changed',
    CASE WHEN entity_type = 'topics' OR entity_type = 'clients' AND entity_name <> '<default>'
      THEN 85.0 ELSE 50.0 END,
    at, at AS until_at,
    CASE
      WHEN entity_type = 'topics' THEN 'topic ' || entity_name
      WHEN entity_type = 'clients' AND entity_name <> '<default>' THEN 'client ' || entity_name
      ELSE 'hour ' || date_trunc('hour', at)
    END,
    rtrim(entity_type, 's') || ' ' || entity_name, config_key || ' ' || says,
    'config_history', seq, seq AS each, 0
  FROM (
    SELECT cluster, entity_type, entity_name, config_key, valid_from_at AS at,
      valid_from_seq AS seq, 'is ' || coalesce(value, '(withheld)') AS says
    FROM config_history
    UNION ALL
    SELECT cluster, entity_type, entity_name, config_key, valid_to_at, valid_to_seq,
      'was ' || ended_by
    FROM config_history
    WHERE ended_by IN ('removed', 'deleted')
  )
  WHERE config_key IS NOT NULL
    AND (entity_type IN ('topics', 'clients') OR entity_name = '<default>')
  UNION ALL
  SELECT cluster, operation, 80.0, valid_from_at,
    coalesce(valid_to_at, to_timestamp_micros(now())),
    coalesce('partition ' || topic || ' ' || partition, 'topic ' || topic),
    'topic ' || topic, 'it was under way', 'admin_operations', valid_from_seq, 0, 0
  FROM admin_operations
  WHERE topic IS NOT NULL
  UNION ALL
  SELECT cluster, 'leader_changed', 60.0, valid_from_at, valid_from_at AS until_at,
    'partition ' || topic || ' ' || partition, 'topic ' || topic,
    'a leader changed from ' || leader_before || ' to ' || leader,
    'partition_state', valid_from_seq, 0, 0
  FROM leaderships
  WHERE leader <> leader_before
  UNION ALL
  SELECT cluster, 'controller_changed', 30.0, at, at AS until_at,
    'hour ' || date_trunc('hour', at), 'controller ' || controller_id,
    'it followed ' || former_id, 'controller', seq, seq AS each, 0
  FROM (
    SELECT cluster, controller_id, valid_from_at AS at, valid_from_seq AS seq,
      lag(controller_id) OVER (PARTITION BY cluster ORDER BY valid_from_seq) AS former_id
    FROM controller
    WHERE controller_id IS NOT NULL
  )
  WHERE former_id <> controller_id
  UNION ALL
  -- What the rise itself tells.
  SELECT cluster, unnest(make_array(
      'offsets_rewound', 'rebalance_storm', 'consumer_stalled', 'group_stopped',
      'partitions_unowned', 'producer'
    )), 0.0, NULL, NULL, 'always', 'its offsets', '', 'offset_lag', NULL, 0, 0
  FROM (SELECT DISTINCT cluster FROM offset_lag)
), met AS (
  SELECT keyed.*, events.cause, events.weight, events.at, events.until_at, events.entity,
    events.evidence, events.source_table, events.seq, events.each, events.attempts,
    events.at <= keyed.to_at AND events.until_at >= keyed.from_at AS is_meanwhile
  FROM keyed
  JOIN events
    ON events.cluster = keyed.cluster
    AND events.shared = keyed.shared
  -- Who reads no more is missed only when the session has expired.
  WHERE events.at IS NULL
    OR events.at - CASE
      WHEN events.cause IN ('member_lost', 'broker_left') AND keyed.consumed_there <= 0
      THEN INTERVAL '30 seconds' ELSE INTERVAL '0 seconds' END
      <= CASE WHEN starts_with(events.shared, 'hour ') THEN keyed.risen_at ELSE keyed.to_at END
    AND events.until_at >= keyed.from_at - INTERVAL '5 minutes'
), gathered AS (
  SELECT cluster, coordinator, group_id, rise, from_at, risen_at, to_at, steep_from_at, steep_at,
    lag_before, added, produced, consumed, consumed_there, produced_before, consumed_before,
    pace_us,
    rewound, rewound_at, rewound_seq, stalled_at, stalled_seq, stopped_at, stopped_seq,
    unowned_at, unowned_seq,
    cause, weight, entity, source_table, each,
    min(at) AS at,
    max(until_at) AS until_at,
    min(seq) AS seq,
    first_value(evidence ORDER BY at, seq) AS evidence,
    count(*) AS times,
    count(*) FILTER (WHERE is_meanwhile) AS times_meanwhile,
    sum(attempts) FILTER (WHERE is_meanwhile) AS attempts
  FROM met
  GROUP BY cluster, coordinator, group_id, rise, from_at, risen_at, to_at, steep_from_at, steep_at,
    lag_before, added, produced, consumed, consumed_there, produced_before, consumed_before,
    pace_us,
    rewound, rewound_at, rewound_seq, stalled_at, stalled_seq, stopped_at, stopped_seq,
    unowned_at, unowned_seq,
    cause, weight, entity, source_table, each
), surveyed AS (
  SELECT *,
    sum(attempts) OVER one AS all_attempts,
    count(*) FILTER (WHERE source_table = 'rebalances' AND times_meanwhile > 0) OVER one
      AS episodes,
    count(*) FILTER (WHERE cause = 'member_came' AND times_meanwhile > 0) OVER one AS came,
    count(*) FILTER (WHERE cause = 'member_lost' AND times_meanwhile > 0) OVER one AS gone,
    min(CASE WHEN source_table = 'rebalances' THEN seq END) OVER one AS first_episode,
    CASE WHEN to_at > from_at THEN produced * 1e6 / CAST(to_at - from_at AS BIGINT) END
      AS produce_rate,
    CASE WHEN to_at > from_at THEN consumed * 1e6 / CAST(to_at - from_at AS BIGINT) END
      AS consume_rate,
    CASE WHEN pace_us > 0 THEN produced_before * 1e6 / pace_us END AS produce_before,
    CASE WHEN pace_us > 0 THEN consumed_before * 1e6 / pace_us END AS consume_before
  FROM gathered
  WINDOW one AS (PARTITION BY cluster, coordinator, group_id, rise)
), told AS (
  SELECT cluster, coordinator, group_id, rise, from_at, risen_at, to_at, steep_from_at, steep_at,
    lag_before, added,
    CASE WHEN cause = 'producer' AND is_slow THEN 'consumers_slowed' ELSE cause END AS cause,
    CASE cause
      WHEN 'offsets_rewound' THEN CASE WHEN rewound * 2 >= added THEN 98.0 END
      WHEN 'rebalance_storm' THEN
        CASE WHEN greatest(came, gone) >= 3 AND all_attempts >= 5 THEN 95.0 END
      WHEN 'consumer_stalled' THEN CASE WHEN stalled_seq IS NOT NULL THEN
        CASE WHEN unowned_seq IS NULL THEN 91.0 ELSE 57.0 END END
      WHEN 'group_stopped' THEN CASE WHEN stopped_seq IS NOT NULL THEN
        CASE WHEN stopped_at > steep_at AND consumed_there > 0 THEN 26.0 ELSE 56.0 END END
      WHEN 'partitions_unowned' THEN CASE WHEN unowned_seq IS NOT NULL THEN 58.0 END
      WHEN 'producer' THEN CASE WHEN is_slow THEN 20.0
        WHEN produce_rate >= 1.5 * produce_before THEN 65.0
        WHEN produce_before IS NULL AND consumed_there > 0 THEN 45.0 ELSE 15.0 END
      WHEN 'member_came' THEN NULL
      -- What had settled before the lag rose cost it nothing any more; nor did what came after
      -- most of it, if they were read all the time.
      WHEN 'rebalance' THEN
        CASE WHEN times_meanwhile > 0 AND NOT is_late THEN weight ELSE weight - 30 END
      WHEN 'member_lost' THEN CASE WHEN is_late THEN weight - 50 ELSE weight END
      ELSE weight
    END AS weight,
    CASE cause
      WHEN 'rebalance_storm' THEN 'the group'
      WHEN 'consumer_stalled' THEN 'its owners'
      WHEN 'group_stopped' THEN 'the group'
      WHEN 'partitions_unowned' THEN 'its partitions'
      WHEN 'producer' THEN CASE WHEN is_slow THEN 'consumers' ELSE 'producers' END
      ELSE entity
    END AS entity,
    CASE cause
      WHEN 'offsets_rewound' THEN rewound_at
      WHEN 'consumer_stalled' THEN stalled_at
      WHEN 'group_stopped' THEN stopped_at
      WHEN 'partitions_unowned' THEN unowned_at
      ELSE coalesce(at, from_at)
    END AS at,
    -- What lasts has no end before the rise has.
    CASE WHEN cause = 'offsets_rewound' THEN rewound_at ELSE coalesce(until_at, to_at) END
      AS until_at,
    CASE cause
      WHEN 'offsets_rewound' THEN 'committed offsets fell by ' || rewound
      WHEN 'rebalance_storm' THEN concat(
        episodes, ' rebalances with ', all_attempts, ' attempts, ', came, ' members came and ',
        gone, ' left')
      WHEN 'consumer_stalled' THEN 'they own partitions and commit nothing (STALLED)'
      WHEN 'group_stopped' THEN 'it has no member (STOPPED)'
      WHEN 'partitions_unowned' THEN 'members live, but nobody owns them (UNOWNED)'
      WHEN 'producer' THEN concat(
        produced, ' records produced and ', consumed, ' consumed meanwhile: ',
        round(produce_rate, 1), ' and ', round(consume_rate, 1), ' per second',
        coalesce(
          ', before ' || round(produce_before, 1) || ' and ' || round(consume_before, 1), ''))
      ELSE concat(evidence, CASE WHEN times = 1 THEN ''
        WHEN cause = 'member_lost' THEN ', ' || times || ' times in all'
        WHEN cause = 'leader_changed' THEN ', ' || times || ' changes in all'
        ELSE ', on ' || times || ' partitions' END)
    END AS evidence,
    CASE cause WHEN 'rebalance_storm' THEN 'rebalances' WHEN 'producer' THEN NULL
      ELSE source_table END AS source_table,
    CASE cause
      WHEN 'offsets_rewound' THEN rewound_seq
      WHEN 'rebalance_storm' THEN first_episode
      WHEN 'consumer_stalled' THEN stalled_seq
      WHEN 'group_stopped' THEN stopped_seq
      WHEN 'partitions_unowned' THEN unowned_seq
      ELSE seq
    END AS source_seq
  FROM (
    SELECT *,
      coalesce(consume_rate < 0.7 * consume_before, consumed <= 0) AS is_slow,
      at > steep_at AND consumed_there > 0 AS is_late
    FROM surveyed
  )
), scored AS (
  -- Minutes between a cause and the rise's beginning or its steepest part, whichever is nearer.
  SELECT *,
    round(weight / (1 + least(
      greatest(0, CAST(from_at - until_at AS BIGINT), CAST(at - risen_at AS BIGINT)),
      greatest(0, CAST(steep_from_at - until_at AS BIGINT), CAST(at - steep_at AS BIGINT))
    ) / 6e7), 1) AS score
  FROM told
  WHERE weight IS NOT NULL
)
SELECT
  cluster,
  coordinator,
  group_id,
  from_at AS rise_from,
  to_at AS rise_to,
  lag_before,
  lag_before + added AS lag_after,
  added,
  row_number() OVER (
    PARTITION BY cluster, coordinator, group_id, rise ORDER BY score DESC, at, cause, entity
  ) AS rank,
  cause,
  entity,
  at,
  evidence,
  score,
  source_table,
  source_seq
FROM scored
