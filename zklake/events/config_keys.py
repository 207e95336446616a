"""Config keys whose values are no secrets, by entity: what Kafka's own definitions say. Data only.

Read in apache/kafka at the last patch of every minor release: 0.8.1-3.9 for topics (LogConfig,
TopicConfig), 0.10.1-3.9 for brokers (what DynamicConfig and DynamicBrokerConfig let a broker change
at run time, in a listener's own form, too), 0.9-3.9 for quotas (DynamicConfig, QuotaConfigs).
Listed are numbers, switches and closed sets of words. Text and lists of any form are not, whatever
they are used for: paths, addresses, class names, and every key of type PASSWORD.
"""

from __future__ import annotations

# INT, SHORT, LONG and DOUBLE of LogConfig, 0.8.1-3.9.
TOPIC_NUMBERS = (
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "index.interval.bytes",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.difference.max.ms",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
)

# BOOLEAN of LogConfig, 0.8.2-3.9.
TOPIC_SWITCHES = (
    "message.downconversion.enable",
    "preallocate",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
    "unclean.leader.election.enable",
)

_POLICIES = r"(?:compact|delete)(?:\s*,\s*(?:compact|delete))*"
_CODECS = "gzip|lz4|producer|snappy|uncompressed|zstd"
_CLOCKS = "CreateTime|LogAppendTime"
_REPLICAS = r"\*|none|(?:[0-9]+:[0-9]+(?:\s*,\s*[0-9]+:[0-9]+)*)?"

# STRING and LIST of LogConfig that a validator closes, 0.8.1-3.9: pattern of the whole value.
TOPIC_WORDS = {
    "cleanup.policy": _POLICIES,
    "compression.type": _CODECS,
    "follower.replication.throttled.replicas": _REPLICAS,
    "leader.replication.throttled.replicas": _REPLICAS,
    "message.format.version": r"[0-9]{1,2}(?:\.[0-9]{1,3}){1,3}(?:-IV[0-9]{1,2})?",
    "message.timestamp.type": _CLOCKS,
}

# INT, SHORT, LONG and DOUBLE of a broker's dynamic configs, 0.10.1-3.9.
BROKER_NUMBERS = (
    "background.threads",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "connections.max.reauth.ms",
    "follower.replication.throttled.rate",
    "leader.replication.throttled.rate",
    "log.cleaner.backoff.ms",
    "log.cleaner.dedupe.buffer.size",
    "log.cleaner.delete.retention.ms",
    "log.cleaner.io.buffer.load.factor",
    "log.cleaner.io.buffer.size",
    "log.cleaner.io.max.bytes.per.second",
    "log.cleaner.max.compaction.lag.ms",
    "log.cleaner.min.cleanable.ratio",
    "log.cleaner.min.compaction.lag.ms",
    "log.cleaner.threads",
    "log.flush.interval.messages",
    "log.flush.interval.ms",
    "log.index.interval.bytes",
    "log.index.size.max.bytes",
    "log.local.retention.bytes",
    "log.local.retention.ms",
    "log.message.timestamp.after.max.ms",
    "log.message.timestamp.before.max.ms",
    "log.message.timestamp.difference.max.ms",
    "log.retention.bytes",
    "log.retention.ms",
    "log.roll.jitter.ms",
    "log.roll.ms",
    "log.segment.bytes",
    "log.segment.delete.delay.ms",
    "max.connection.creation.rate",
    "max.connections",
    "max.connections.per.ip",
    "message.max.bytes",
    "min.insync.replicas",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "producer.id.expiration.ms",
    "remote.fetch.max.wait.ms",
    "remote.log.index.file.cache.total.size.bytes",
    "remote.log.manager.copy.max.bytes.per.second",
    "remote.log.manager.fetch.max.bytes.per.second",
    "replica.alter.log.dirs.io.max.bytes.per.second",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
)

# BOOLEAN of a broker's dynamic configs, 1.1-3.9.
BROKER_SWITCHES = (
    "log.message.downconversion.enable",
    "log.preallocate",
    "transaction.partition.verification.enable",
    "unclean.leader.election.enable",
)

# STRING and LIST of a broker's dynamic configs that a validator closes, 1.1-3.9.
BROKER_WORDS = {
    "compression.type": _CODECS,
    "log.cleanup.policy": _POLICIES,
    "log.message.timestamp.type": _CLOCKS,
    "ssl.client.auth": "none|requested|required",
}

# LONG and DOUBLE of client ids, users and a user's client ids, 0.9-3.9.
QUOTAS = (
    "consumer_byte_rate",
    "controller_mutation_rate",
    "producer_byte_rate",
    "request_percentage",
)

# INT of addresses, 2.8-3.9.
IP_QUOTAS = ("connection_creation_rate",)
