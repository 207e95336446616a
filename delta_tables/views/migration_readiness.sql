-- How far is the move to KRaft, may it go on or back, and what stands in its way?
-- One row per check, as far as ZooKeeper shows it: verdict is ok, warning, blocked (do not go on),
-- or unknown (ZooKeeper does not show it). Every row of a cluster has its phase: not_begun, preparing,
-- copying, dual_write, stalled, finalised, rolling_back, rolled_back_leftover, rolled_back, unknown.
-- evidence: up to ten rows behind the verdict, by table and valid_from_seq. Silence is counted up to
-- now: of a lake that is behind, it says nothing.
WITH terms AS (
  SELECT cluster, controller_id, kraft_controller_epoch, is_known, valid_from_seq, valid_from_at,
    -- A term keeps the epoch that it began with; what was written later, also by hand, is here.
    coalesce(CAST(regexp_match(fold_state, '"epoch":([0-9]+)')[1] AS INT), controller_epoch)
      AS epoch,
    row_number() OVER (PARTITION BY cluster ORDER BY valid_from_seq DESC) AS back
  FROM controller
), holders AS (
  SELECT cluster,
    max(controller_id) FILTER (WHERE back = 1) AS controller_id,
    max(epoch) FILTER (WHERE back = 1) AS epoch,
    max(kraft_controller_epoch) FILTER (WHERE back = 1) AS kraft_epoch,
    max(valid_from_seq) AS seq,
    max(valid_from_at) FILTER (WHERE back = 1) AS since,
    bool_and(is_known) FILTER (WHERE back = 1) AS is_known,
    last_value(kraft_controller_epoch ORDER BY valid_from_seq)
      FILTER (WHERE controller_id IS NOT NULL) AS last_kraft_epoch,
    max(valid_from_seq) FILTER (WHERE kraft_controller_epoch > 0) AS kraft_seq
  FROM terms
  GROUP BY cluster
), migrations AS (
  SELECT cluster, kraft_controller_epoch, kraft_metadata_offset, is_known, valid_from_seq,
    valid_from_at
  FROM cluster_state
  WHERE is_open AND path = '/migration'
), epochs AS (
  SELECT cluster,
    max(controller_epoch) AS epoch,
    first_value(valid_from_seq ORDER BY controller_epoch DESC, valid_from_seq) AS seq,
    first_value(topic || '-' || partition ORDER BY controller_epoch DESC, valid_from_seq)
      AS partition
  FROM partition_state
  WHERE is_open AND controller_epoch IS NOT NULL
  GROUP BY cluster
), registered AS (
  SELECT cluster,
    count(*) AS brokers,
    min(registration_version) AS oldest,
    max(broker_id) AS highest_id,
    array_agg(
      named_struct('source_table', 'broker_membership', 'source_seq', valid_from_seq, 'says',
        concat('broker ', broker_id, ': registration version ', registration_version))
      ORDER BY registration_version, broker_id DESC
    ) AS evidence
  FROM broker_membership
  WHERE is_open
  GROUP BY cluster
), absences AS (
  SELECT flaps.cluster, flaps.broker_id,
    count(*) AS times,
    bool_or(flaps.back_at IS NULL) AS is_away,
    max(flaps.left_at) AS left_at,
    max(lives.valid_from_seq) AS seq
  FROM broker_flaps AS flaps
  JOIN broker_membership AS lives
    ON lives.cluster = flaps.cluster
    AND lives.broker_id = flaps.broker_id
    AND lives.valid_to_at = flaps.left_at
  WHERE flaps.left_at >= to_timestamp_micros(now()) - INTERVAL '1 day'
  GROUP BY flaps.cluster, flaps.broker_id
), flapping AS (
  SELECT cluster,
    count(*) FILTER (WHERE is_away) AS away,
    count(*) FILTER (WHERE times >= 3) AS flapping,
    array_agg(
      named_struct('source_table', 'broker_membership', 'source_seq', seq, 'says',
        concat('broker ', broker_id, ' left ', times, CASE WHEN times = 1 THEN ' time' ELSE ' times' END,
          ' in a day', CASE WHEN is_away THEN ' and is away' ELSE '' END))
      ORDER BY is_away DESC, times DESC, broker_id
    ) FILTER (WHERE is_away OR times >= 3) AS evidence
  FROM absences
  GROUP BY cluster
), replicated AS (
  SELECT health.cluster,
    count(*) FILTER (WHERE health.is_offline) AS offline,
    count(*) FILTER (WHERE health.is_under_replicated) AS under_replicated,
    array_agg(
      named_struct('source_table', 'partition_state', 'source_seq', states.valid_from_seq, 'says',
        concat(health.topic, '-', health.partition,
          CASE WHEN health.is_offline THEN ' is offline' ELSE ' is under-replicated' END))
      ORDER BY health.is_offline DESC, health.topic, health.partition
    ) AS evidence
  FROM partition_health AS health
  JOIN partition_state AS states
    ON states.cluster = health.cluster
    AND states.topic = health.topic
    AND states.partition = health.partition
  WHERE states.is_open AND NOT health.is_under_deletion
    AND (health.is_offline OR health.is_under_replicated)
  GROUP BY health.cluster
), grouped AS (
  SELECT cluster, count(*) AS groups,
    count(*) FILTER (WHERE is_live) AS live,
    array_to_string(array_slice(array_agg(group_id ORDER BY is_live DESC, group_id), 1, 5), ', ')
      AS names,
    array_agg(
      named_struct('source_table', source_table, 'source_seq', source_seq, 'says',
        concat(group_id, ': ', zookeeper_members,
          CASE WHEN zookeeper_members = 1 THEN ' member' ELSE ' members' END,
          coalesce(', last commit ' || date_trunc('second', zookeeper_commit_at), ', no commit')))
      ORDER BY is_live DESC, group_id
    ) AS evidence
  FROM (
    -- Who commits without being a member lives there as well.
    SELECT coordinators.*, placed.source_table, placed.source_seq,
      zookeeper_members > 0
        OR zookeeper_commit_at >= to_timestamp_micros(now()) - INTERVAL '1 hour' AS is_live
    FROM group_coordinators AS coordinators
    JOIN (
      SELECT cluster, group_id,
        CASE WHEN max(member_seq) IS NULL THEN 'consumer_offsets' ELSE 'consumer_membership' END
          AS source_table,
        coalesce(max(member_seq), max(offset_seq)) AS source_seq
      FROM (
        SELECT cluster, group_id, valid_from_seq AS member_seq, NULL AS offset_seq
        FROM consumer_membership
        WHERE is_open AND coordinator = 'zookeeper'
        UNION ALL
        SELECT cluster, group_id, NULL, valid_from_seq
        FROM consumer_offsets
        WHERE is_open AND coordinator = 'zookeeper'
      )
      GROUP BY cluster, group_id
    ) AS placed
      ON placed.cluster = coordinators.cluster AND placed.group_id = coordinators.group_id
    WHERE zookeeper_members > 0 OR zookeeper_commit_at IS NOT NULL
  )
  GROUP BY cluster
), blind AS (
  SELECT cluster, min(valid_from_at) AS since
  FROM log_gaps
  WHERE is_open AND path IS NULL
  GROUP BY cluster
), facts AS (
  SELECT holders.*,
    migrations.valid_from_seq AS migration_seq,
    migrations.is_known AS is_migration_known,
    migrations.kraft_controller_epoch AS migration_epoch,
    migrations.kraft_metadata_offset AS kraft_offset,
    migrations.valid_from_at AS written_at,
    epochs.epoch AS partition_epoch,
    epochs.seq AS partition_seq,
    epochs.partition,
    coalesce(registered.brokers, 0) AS brokers,
    registered.oldest,
    registered.highest_id,
    registered.evidence AS registrations,
    -- What /controller_epoch must be above: the epochs that brokers and partitions may have seen.
    greatest(holders.last_kraft_epoch, migrations.kraft_controller_epoch, epochs.epoch) AS ceiling,
    CASE
      WHEN NOT holders.is_known THEN 'unknown'
      WHEN holders.controller_id IS NULL AND holders.last_kraft_epoch > 0 THEN 'rolling_back'
      WHEN holders.kraft_epoch > 0 THEN CASE
        WHEN coalesce(migrations.kraft_metadata_offset, -1) < 0 THEN 'copying'
        -- A KRaft controller in migration mode writes /migration twice a second.
        WHEN migrations.valid_from_at >= to_timestamp_micros(now()) - INTERVAL '2 minutes'
          THEN 'dual_write'
        WHEN registered.brokers > 0 THEN 'stalled'
        ELSE 'finalised'
      END
      WHEN migrations.kraft_metadata_offset >= 0 THEN 'rolled_back_leftover'
      WHEN migrations.cluster IS NOT NULL THEN 'preparing'
      WHEN holders.kraft_seq IS NOT NULL THEN 'rolled_back'
      ELSE 'not_begun'
    END AS phase
  FROM holders
  LEFT JOIN migrations ON migrations.cluster = holders.cluster
  LEFT JOIN epochs ON epochs.cluster = holders.cluster
  LEFT JOIN registered ON registered.cluster = holders.cluster
), phases AS (
  -- The znodes behind phase, rollback and leftover, as evidence; null where there is none.
  SELECT *,
    phase IN ('copying', 'dual_write', 'stalled', 'rolling_back') AS is_under_way,
    named_struct('source_table', 'controller', 'source_seq', seq, 'says', concat(
      CASE WHEN controller_id IS NULL THEN 'nobody holds /controller'
        WHEN kraft_epoch > 0
          THEN concat('KRaft controller ', controller_id, ' holds /controller at epoch ', kraft_epoch)
        ELSE concat('broker ', controller_id, ' holds /controller') END,
      coalesce(concat(', /controller_epoch is ', epoch), ''))) AS held,
    named_struct('source_table', 'cluster_state', 'source_seq', migration_seq, 'says',
      CASE WHEN is_migration_known
        THEN concat('/migration has epoch ', migration_epoch, ' and offset ', kraft_offset)
        ELSE '/migration cannot be read' END) AS migrating,
    named_struct('source_table', 'partition_state', 'source_seq', partition_seq, 'says',
      concat('the highest controller_epoch of a partition is ', partition_epoch, ', of ', partition)
    ) AS decided
  FROM facts
), checks AS (
  SELECT cluster, phase, 1 AS number, 'phase' AS check_name,
    CASE phase WHEN 'unknown' THEN 'unknown' WHEN 'stalled' THEN 'blocked'
      WHEN 'rolling_back' THEN 'blocked' WHEN 'rolled_back_leftover' THEN 'warning'
      ELSE CASE WHEN controller_id IS NULL THEN 'warning'
        WHEN phase = 'copying' AND since < to_timestamp_micros(now()) - INTERVAL '10 minutes'
          THEN 'warning'
        ELSE 'ok' END
    END AS verdict,
    CASE phase
      WHEN 'unknown' THEN 'It is not known who holds /controller.'
      WHEN 'not_begun' THEN 'The cluster runs on ZooKeeper; no migration has been seen.'
      WHEN 'preparing' THEN 'KRaft controllers were started and wait for the brokers.'
      WHEN 'copying' THEN 'A KRaft controller has taken over and copies the tree.'
      WHEN 'dual_write' THEN concat(
        'A KRaft controller controls the cluster and writes to both sides; ',
        CASE brokers WHEN 0 THEN 'no broker' WHEN 1 THEN '1 broker' ELSE concat(brokers, ' brokers') END,
        ' still in ZooKeeper mode.')
      WHEN 'stalled' THEN concat('A KRaft controller holds /controller but has written nothing since ',
        date_trunc('second', written_at), ', while brokers are registered in ZooKeeper.')
      WHEN 'finalised' THEN concat('The tree is silent since ', date_trunc('second', written_at),
        ' and no broker is registered: the migration is finalised, or every KRaft controller is down.')
      WHEN 'rolling_back' THEN 'The KRaft controller''s /controller is deleted; no broker has taken it.'
      WHEN 'rolled_back_leftover' THEN
        'A broker is the controller again; /migration of the earlier attempt is still there.'
      ELSE 'The migration was rolled back; nothing of it is left.'
    END AS detail,
    CASE phase
      WHEN 'preparing' THEN 'Restart the brokers one by one in migration mode.'
      WHEN 'copying' THEN CASE
        WHEN since < to_timestamp_micros(now()) - INTERVAL '10 minutes'
          THEN 'This takes seconds to minutes: read the log of the active KRaft controller.' END
      WHEN 'dual_write' THEN CASE WHEN brokers > 0
        THEN 'Restart the brokers one by one in KRaft mode, then take the controllers out of migration mode.'
        ELSE 'Take the controllers out of migration mode once you are sure: there is no way back then.' END
      WHEN 'stalled' THEN 'Find out why the KRaft controllers are down or cannot reach ZooKeeper.'
      WHEN 'finalised' THEN
        'Ask the quorum (kafka-metadata-quorum.sh describe --status); ZooKeeper may go if it answers.'
      WHEN 'rolling_back' THEN 'Restart a broker without migration mode now: the cluster has no controller.'
      WHEN 'rolled_back_leftover' THEN 'See the check leftover.'
    END AS action,
    CASE WHEN migration_seq IS NULL THEN [held] ELSE [held, migrating] END AS evidence
  FROM phases
  UNION ALL
  SELECT cluster, phase, 2, 'rollback',
    CASE
      WHEN phase = 'finalised' THEN 'blocked'
      WHEN phase = 'unknown' OR epoch IS NULL THEN 'unknown'
      WHEN is_under_way AND ceiling IS NULL THEN 'unknown'
      WHEN is_under_way THEN CASE WHEN epoch > ceiling THEN 'ok' ELSE 'blocked' END
      -- A controller writes its own epoch into the states of partitions: equal is normal.
      WHEN partition_epoch > epoch THEN 'blocked'
      ELSE 'ok'
    END,
    CASE
      WHEN phase = 'finalised' THEN 'A finalised migration cannot be rolled back.'
      WHEN phase = 'unknown' OR epoch IS NULL OR (is_under_way AND ceiling IS NULL)
        THEN 'The epochs are not known.'
      WHEN is_under_way THEN concat('/controller_epoch is ', epoch,
        CASE WHEN epoch > ceiling THEN ', above ' ELSE ', which is not above ' END, ceiling,
        ', the highest epoch that a KRaft controller or a partition has.')
      WHEN partition_epoch > epoch THEN concat('A broker is the controller at epoch ', epoch,
        ', but partitions have controller_epoch ', partition_epoch, ': brokers refuse its requests.')
      ELSE 'There is nothing to roll back.'
    END,
    CASE
      WHEN phase = 'finalised' THEN 'None: there is no way back.'
      WHEN is_under_way AND epoch <= ceiling THEN concat(
        'Stop the KRaft controllers, then set /controller_epoch ', ceiling + 1,
        ' (zookeeper-shell) before you delete /controller: else partitions go offline (KAFKA-20488).')
      WHEN NOT is_under_way AND partition_epoch > epoch THEN concat(
        'Set /controller_epoch ', partition_epoch + 1,
        ' (zookeeper-shell) and delete /controller: the next election is above it (KAFKA-20488).')
      WHEN is_under_way THEN concat('To roll back: stop the KRaft controllers, delete /controller and',
        ' /migration at once, restart the brokers without migration mode.')
    END,
    array_concat(
      CASE WHEN migration_seq IS NULL THEN [held] ELSE [held, migrating] END,
      CASE WHEN partition_seq IS NULL THEN [] ELSE [decided] END)
  FROM phases
  UNION ALL
  SELECT cluster, phase, 3, 'leftover',
    CASE
      WHEN migration_seq IS NULL THEN 'ok'
      WHEN NOT is_migration_known THEN 'blocked'
      WHEN phase = 'rolled_back_leftover' THEN 'blocked'
      WHEN phase = 'rolling_back' THEN 'warning'
      ELSE 'ok'
    END,
    CASE
      WHEN migration_seq IS NULL THEN 'There is no /migration.'
      WHEN NOT is_migration_known
        THEN '/migration cannot be read; an empty one stalls the migration (KAFKA-19480).'
      WHEN phase = 'rolled_back_leftover' THEN concat('/migration of an earlier attempt is at offset ',
        kraft_offset, ': the next attempt skips the copy and writes its old state over ZooKeeper''s.')
      WHEN phase = 'rolling_back' THEN '/migration is still there.'
      WHEN phase = 'preparing' THEN '/migration is new: nothing has been copied.'
      ELSE '/migration belongs to the migration under way.'
    END,
    CASE
      WHEN NOT is_migration_known OR phase IN ('rolled_back_leftover', 'rolling_back') THEN concat(
        'Note its value and delete it (zookeeper-shell: get /migration, delete /migration),',
        ' and format the KRaft controllers anew before the next attempt.')
    END,
    CASE WHEN migration_seq IS NULL THEN [held] ELSE [held, migrating] END
  FROM phases
  UNION ALL
  SELECT phases.cluster, phase, 4, 'groups',
    CASE WHEN grouped.live > 0 THEN 'blocked' WHEN grouped.groups > 0 THEN 'warning' ELSE 'ok' END,
    CASE WHEN grouped.groups IS NULL THEN 'No consumer group keeps anything in ZooKeeper.'
      ELSE concat(
        CASE WHEN grouped.groups = 1 THEN '1 group keeps' ELSE concat(grouped.groups, ' groups keep') END,
        ' members or offsets in ZooKeeper, ', grouped.live, ' of them in use: ', grouped.names,
        CASE WHEN grouped.groups > 5 THEN ' and more.' ELSE '.' END)
    END,
    CASE WHEN grouped.live > 0 THEN concat('Move them to consumers that commit to Kafka before any broker',
        ' runs in KRaft mode: old consumers find brokers only in ZooKeeper (view group_coordinators).')
      WHEN grouped.groups > 0
        THEN 'Nobody uses them: copy the offsets you still need, they are not migrated.' END,
    array_slice(grouped.evidence, 1, 10)
  FROM phases
  LEFT JOIN grouped ON grouped.cluster = phases.cluster
  UNION ALL
  SELECT phases.cluster, phase, 5, 'brokers',
    CASE WHEN flapping.away + flapping.flapping > 0 THEN 'warning' ELSE 'ok' END,
    CASE WHEN flapping.away + flapping.flapping > 0 THEN concat(
        'In the last day ', flapping.away, ' left and did not return, ', flapping.flapping,
        ' left three times or more.')
      ELSE 'No broker is away or flapping, by the last day.' END,
    CASE WHEN flapping.away + flapping.flapping > 0
      THEN 'Make the brokers'' sessions stable first: each step of the move restarts every broker.' END,
    array_slice(flapping.evidence, 1, 10)
  FROM phases
  LEFT JOIN flapping ON flapping.cluster = phases.cluster
  UNION ALL
  SELECT phases.cluster, phase, 6, 'partitions',
    CASE WHEN replicated.offline > 0 THEN 'blocked' WHEN replicated.under_replicated > 0 THEN 'warning'
      ELSE 'ok' END,
    CASE WHEN replicated.cluster IS NULL THEN 'Every partition has a leader and all its replicas in sync.'
      ELSE concat('Offline partitions: ', replicated.offline, ', under-replicated: ',
        replicated.under_replicated, '.') END,
    CASE WHEN replicated.cluster IS NOT NULL
      THEN 'Wait until every replica is in sync: the next restart of a broker may take the last one.' END,
    array_slice(replicated.evidence, 1, 10)
  FROM phases
  LEFT JOIN replicated ON replicated.cluster = phases.cluster
  UNION ALL
  SELECT cluster, phase, 7, 'registrations',
    CASE
      WHEN brokers = 0 THEN CASE WHEN kraft_epoch > 0 THEN 'ok' ELSE 'warning' END
      WHEN oldest IS NULL THEN 'unknown'
      WHEN oldest < 5 THEN 'blocked'
      WHEN highest_id > 1000 THEN 'warning'
      WHEN kraft_seq IS NOT NULL THEN 'ok'
      ELSE 'unknown'
    END,
    CASE
      WHEN brokers = 0 THEN CASE WHEN kraft_epoch > 0
        THEN 'No broker is registered: all of them run in KRaft mode.'
        ELSE 'No broker is registered.' END
      WHEN oldest IS NULL THEN 'The registrations cannot be read.'
      WHEN oldest < 5 THEN concat('A broker registers in version ', oldest,
        ': it is older than Kafka 2.7.')
      WHEN highest_id > 1000 THEN concat('Broker ', highest_id,
        ' has an id above 1000, which is how generated ids look.')
      WHEN kraft_seq IS NOT NULL THEN
        'All brokers register as 2.7 to 3.9 do, and a KRaft controller has accepted them once.'
      ELSE 'All brokers register as 2.7 to 3.9 do; ZooKeeper does not say more.'
    END,
    CASE
      WHEN brokers = 0 THEN CASE WHEN coalesce(kraft_epoch, -1) <= 0 THEN 'Start the brokers.' END
      WHEN oldest < 5 THEN 'Upgrade every broker to 3.9 first.'
      WHEN highest_id > 1000
        THEN 'Set broker.id in every broker''s file, and reserved.broker.max.id not below the highest.'
      WHEN kraft_seq IS NULL
        THEN 'Check by hand that every broker runs 3.9 with inter.broker.protocol.version=3.9.'
    END,
    array_slice(registrations, 1, 10)
  FROM phases
)
SELECT
  checks.cluster,
  checks.phase,
  checks.number,
  checks.check_name,
  -- Where the watcher cannot see, nothing is known to be well.
  CASE WHEN checks.verdict = 'ok' AND blind.since IS NOT NULL THEN 'unknown' ELSE checks.verdict END
    AS verdict,
  CASE WHEN blind.since IS NULL THEN checks.detail
    ELSE concat(checks.detail, ' The watcher sees nothing since ', date_trunc('second', blind.since), '.')
  END AS detail,
  checks.action,
  coalesce(checks.evidence, []) AS evidence
FROM checks
LEFT JOIN blind ON blind.cluster = checks.cluster
