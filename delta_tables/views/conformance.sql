-- Does every partition of a ZooKeeper group have the owner that Kafka's range assignment gives it?
-- finding: ok; wrong_owner; unowned; zombie (the owner is not among the members); not_subscribed
-- (owned, though no member asks for it); unknown (a subscription that cannot be read or matched).
-- Groups with partition.assignment.strategy=roundrobin, which ZooKeeper does not store, look wrong.
WITH members AS (
  SELECT cluster, group_id, member_id, pattern, subscription
  FROM consumer_membership
  WHERE is_open AND coordinator = 'zookeeper'
), partitions AS (
  SELECT cluster, topic, partition,
    CAST(row_number() OVER (PARTITION BY cluster, topic ORDER BY partition) AS BIGINT) - 1
      AS place,
    count(*) OVER (PARTITION BY cluster, topic) AS partitions
  FROM (
    SELECT cluster, topic, unnest(map_keys(replicas)) AS partition
    FROM topics
    WHERE is_open AND broker_id IS NULL
  )
), wishes AS (
  SELECT cluster, group_id, member_id, pattern,
    unnest(map_keys(subscription)) AS wanted, unnest(map_values(subscription)) AS streams
  FROM members
), regexes AS (
  -- Java's regexes, as far as they mean the same here: letters, dots, repetition, alternatives and
  -- brackets (a letter stands for each, so that their form is seen). Others are not judged.
  SELECT cluster, pattern, wanted,
    CASE WHEN length(wanted) <= 1000 AND regexp_like(
      regexp_replace(
        regexp_replace(wanted, '\\[.-]|[A-Za-z0-9_.-]', 'a', 'g'),
        '\((a[*+?]?)+(\|(a[*+?]?)+)*\)', 'a', 'g'
      ),
      '^(a[*+?]?)+(\|(a[*+?]?)+)*$'
    ) THEN '^(?:' || wanted || ')$' END AS regex
  FROM wishes
  WHERE pattern IN ('white_list', 'black_list')
  GROUP BY cluster, pattern, wanted
), matched AS (
  SELECT regexes.cluster, regexes.pattern, regexes.wanted, names.topic
  FROM regexes
  JOIN (SELECT DISTINCT cluster, topic FROM partitions) AS names
    ON names.cluster = regexes.cluster
  -- exclude.internal.topics, which is on unless somebody turned it off.
  WHERE names.topic NOT IN ('__consumer_offsets', '__transaction_state')
    AND regexp_like(names.topic, coalesce(regexes.regex, '^$')) = (regexes.pattern = 'white_list')
    AND regexes.regex IS NOT NULL
), subscribed AS (
  SELECT cluster, group_id, member_id, wanted AS topic, streams
  FROM wishes
  WHERE coalesce(pattern, 'static') = 'static'
  UNION ALL
  SELECT wishes.cluster, wishes.group_id, wishes.member_id, matched.topic, wishes.streams
  FROM wishes
  JOIN matched
    ON matched.cluster = wishes.cluster
    AND matched.pattern = wishes.pattern
    AND matched.wanted = wishes.wanted
), unclear AS (
  -- Groups of which nobody can say who should own what.
  SELECT cluster, group_id FROM members WHERE subscription IS NULL
  UNION
  SELECT cluster, group_id FROM wishes WHERE streams > 1000
  UNION
  SELECT wishes.cluster, wishes.group_id
  FROM wishes
  JOIN regexes
    ON regexes.cluster = wishes.cluster
    AND regexes.pattern = wishes.pattern
    AND regexes.wanted = wishes.wanted
  WHERE regexes.regex IS NULL
), threads AS (
  -- Sorted as strings: c-10 comes before c-2.
  SELECT cluster, group_id, topic, member_id, thread,
    CAST(row_number() OVER (PARTITION BY cluster, group_id, topic ORDER BY thread) AS BIGINT) - 1
      AS place,
    count(*) OVER (PARTITION BY cluster, group_id, topic) AS threads
  FROM (
    SELECT cluster, group_id, topic, member_id, member_id || '-' || stream AS thread
    FROM (
      SELECT cluster, group_id, topic, member_id,
        unnest(generate_series(0, least(streams, 1000) - 1)) AS stream
      FROM subscribed
    )
  )
), sizes AS (
  SELECT threads.cluster, threads.group_id, threads.topic, partitions.partition, partitions.place,
    partitions.partitions, threads.threads,
    partitions.partitions / threads.threads AS each,
    partitions.partitions % threads.threads AS more
  FROM (SELECT DISTINCT cluster, group_id, topic, threads FROM threads) AS threads
  JOIN partitions
    ON partitions.cluster = threads.cluster AND partitions.topic = threads.topic
), expected AS (
  -- Kafka's formula, turned round: which thread takes the partition at this place.
  SELECT sizes.*, threads.thread, threads.member_id
  FROM (
    SELECT *,
      CASE WHEN place < more * (each + 1) THEN place / (each + 1)
        ELSE more + (place - more * (each + 1)) / nullif(each, 0) END AS taker
    FROM sizes
  ) AS sizes
  JOIN threads
    ON threads.cluster = sizes.cluster
    AND threads.group_id = sizes.group_id
    AND threads.topic = sizes.topic
    AND threads.place = sizes.taker
), owners AS (
  SELECT cluster, group_id, topic, partition, owner, owner_member_id, valid_from_at
  FROM ownership_history
  WHERE is_open AND coordinator = 'zookeeper' AND broker_id IS NULL
)
SELECT
  coalesce(expected.cluster, owners.cluster) AS cluster,
  coalesce(expected.group_id, owners.group_id) AS group_id,
  coalesce(expected.topic, owners.topic) AS topic,
  coalesce(expected.partition, owners.partition) AS partition,
  CASE
    WHEN owners.partition IS NOT NULL AND owners.owner IS NOT NULL AND members.member_id IS NULL
      THEN 'zombie'
    WHEN unclear.group_id IS NOT NULL OR owners.partition IS NOT NULL AND owners.owner IS NULL
      THEN 'unknown'
    WHEN owners.partition IS NULL THEN 'unowned'
    WHEN expected.partition IS NULL THEN 'not_subscribed'
    WHEN owners.owner = expected.thread THEN 'ok'
    ELSE 'wrong_owner'
  END AS finding,
  owners.owner,
  owners.owner_member_id,
  CASE WHEN unclear.group_id IS NULL THEN expected.thread END AS expected_owner,
  CASE WHEN unclear.group_id IS NULL THEN expected.member_id END AS expected_member_id,
  owners.valid_from_at AS owned_since,
  expected.partitions,
  expected.threads,
  -- Documents of old give each thread partitions div threads, and so lose the remainder.
  expected.place >= expected.each * expected.threads AS is_lost_by_floor
FROM expected
FULL JOIN owners
  ON owners.cluster = expected.cluster
  AND owners.group_id = expected.group_id
  AND owners.topic = expected.topic
  AND owners.partition = expected.partition
LEFT JOIN members
  ON members.cluster = owners.cluster
  AND members.group_id = owners.group_id
  AND members.member_id = owners.owner_member_id
LEFT JOIN unclear
  ON unclear.cluster = coalesce(expected.cluster, owners.cluster)
  AND unclear.group_id = coalesce(expected.group_id, owners.group_id)
