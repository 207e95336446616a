-- Which cluster is this: its id, its features, its migration to KRaft, what has ACLs?
SELECT name, path, coalesce(cluster_id, array_to_string(map_keys(features), ' '),
    'KRaft controller ' || kraft_controller_id, resource_type || ' ' || resource,
    'producer ids to ' || block_end) AS says,
  znode_version, valid_from_at AS since
FROM cluster_state
WHERE is_open
ORDER BY path
