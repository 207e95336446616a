"""ZooKeeper's own files -> events: transaction logs and snapshots, read and never written."""
