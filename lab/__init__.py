"""A real cluster in a box: ZooKeeper, Kafka brokers, and what makes them busy."""
