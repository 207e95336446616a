"""The log: the watched cluster's event topic and tree topic in Kafka, written and read back."""
