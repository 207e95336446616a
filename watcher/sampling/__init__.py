"""What the watched brokers say of log ends and Kafka-stored groups, on its way to the log.

The cores (ends, thinning, polled, packing) are pure; brokers, offsets_topic, group_poll and sampler
are the edges. Nothing here touches the model of the tree.
"""
