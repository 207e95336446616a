"""ZooKeeper and brokers -> the log. Never imports pyspark or deltalake."""
