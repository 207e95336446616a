"""The short list jars.lock is made from, and the versions that only work together.

Change a version here, then run `zklake jars lock`. pyspark and delta-spark stand in pyproject.toml
too: `zklake doctor` says when the three disagree.
"""

from __future__ import annotations

from typing import NamedTuple

PYSPARK_VERSION = "4.0.4"
DELTA_VERSION = "4.4.0"
KAFKA_VERSION = "3.9.2"
# Fits the slf4j-api Kafka and ZooKeeper 3.8 were built with; read from -Dlog4j.configuration.
LOGGING = "org.slf4j:slf4j-reload4j:1.7.36"


class JarSet(NamedTuple):
    """One named set: coordinates, whether their dependencies come along, and which of them not."""

    name: str
    coordinates: tuple[str, ...]
    transitive: bool
    # "group:artifact", or "group:*"
    without: tuple[str, ...] = ()


WANTED = (
    # Explicit: what else these poms name is in pyspark's own jars folder already.
    JarSet(
        "spark",
        (
            f"io.delta:delta-spark_4.0_2.13:{DELTA_VERSION}",
            f"io.delta:delta-storage:{DELTA_VERSION}",
            f"io.delta:delta-kernel-api:{DELTA_VERSION}",
            f"io.delta:delta-kernel-defaults:{DELTA_VERSION}",
            f"io.delta:delta-kernel-unitycatalog:{DELTA_VERSION}",
            f"org.apache.spark:spark-sql-kafka-0-10_2.13:{PYSPARK_VERSION}",
            # Later builds of this one are not in every mirror.
            "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
            f"org.apache.kafka:kafka-clients:{KAFKA_VERSION}",
            "org.apache.commons:commons-pool2:2.12.0",
        ),
        transitive=False,
    ),
    JarSet(
        "kafka",
        (f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}", LOGGING),
        transitive=True,
    ),
    # The pom marks as "provided" what the server does load: metrics-core at start, snappy for its
    # snapshots, commons-cli for TxnLogToolkit.
    JarSet(
        "zookeeper-3.8",
        (
            "org.apache.zookeeper:zookeeper:3.8.4",
            "io.dropwizard.metrics:metrics-core:4.1.12.1",
            "org.xerial.snappy:snappy-java:1.1.10.5",
            "commons-cli:commons-cli:1.4",
            LOGGING,
        ),
        transitive=True,
        without=("ch.qos.logback:*",),
    ),
    # Its server code registers org.apache.log4j.jmx classes, which reload4j left out: so it keeps
    # the log4j 1.2 of its own pom. jline only serves its shell.
    JarSet(
        "zookeeper-3.4",
        ("org.apache.zookeeper:zookeeper:3.4.10",),
        transitive=True,
        without=("jline:jline",),
    ),
)
