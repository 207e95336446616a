"""The one way to a SparkSession: local defaults measured for small, frequent batches.

Refuses versions that were not proved together, instead of failing later inside Delta.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pyspark.sql import SparkSession

from streaming.shipping import ship_packages
from zklake import jars
from zklake.errors import JarError
from zklake.java import require_java
from zklake.settings.models import StreamSettings

# One matching set with the `spark` JARs of jars.lock: Delta binds to Spark's internals, so even a
# patch release can break it.
PINNED = (("pyspark", "4.0.4"), ("delta-spark", "4.4.0"))

_SECRETS = "(?i)secret|password|token|access[.]?key|jaas|keystore|url"
_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # In any other zone Delta verifies the whole state of a small table on every commit.
    "spark.sql.session.timeZone": "UTC",
    # The JVM only reads Kafka and hands records on: what it would gain by compiling twice and by
    # collecting in parallel, it never earns back. Without the second compiler Java keeps less room
    # for code than Spark has, and would compile it again and again.
    "spark.driver.extraJavaOptions": (
        "-Duser.timezone=UTC -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
        "-XX:ReservedCodeCacheSize=240m"
    ),
    "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the default is still INT96
    # Batches are small: what counts is the number of tasks and jobs in a commit.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.scheduler.mode": "FAIR",  # tables of one batch are written from several threads
    # Both keys are needed to be rid of hidden .crc files, which double the entries of _delta_log.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    # Reader protocol 1: deltalake, polars, DuckDB and Trino read the tables.
    "spark.databricks.delta.properties.defaults.enableDeletionVectors": "false",
    "spark.databricks.delta.properties.defaults.enableTypeWidening": "false",
    "spark.databricks.delta.properties.defaults.columnMapping.mode": "none",
    "spark.databricks.delta.properties.defaults.checkpointPolicy": "classic",
    # A driver that lives for months keeps the history of its jobs, with or without the UI.
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "2000",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.showConsoleProgress": "false",
    "spark.cleaner.periodicGC.interval": "5min",
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.log.level": "WARN",
    # The log's client options are options of the source: none of their secrets may be shown.
    "spark.redaction.regex": _SECRETS,
    "spark.sql.redaction.options.regex": _SECRETS,
}
_LOCAL_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def build_session(
    app_name: str = "zklake",
    *,
    master: str = "local[*]",
    driver_memory: str = "1g",
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark with Delta and the Kafka source; `settings` win over ours."""
    check_versions()
    require_java()
    _use_utc()
    is_local = master.startswith("local")
    _use_this_python(is_local)
    chosen = {
        **_SETTINGS,
        **(_LOCAL_SETTINGS if is_local else {}),
        "spark.sql.warehouse.dir": _make_scratch(),
        "spark.master": master,
        "spark.driver.memory": driver_memory,
        "spark.jars": ",".join(str(path) for path in jars.paths("spark")),
        **(settings or {}),
    }
    builder = SparkSession.builder.appName(app_name)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if not is_local:
        ship_packages(spark, Path(_make_scratch()))
    return spark


def start_spark(options: StreamSettings) -> SparkSession:
    """Spark for `zklake stream`, as its settings want it."""
    return build_session(
        "zklake-stream",
        master=options.master,
        driver_memory=options.driver_memory,
        settings=options.spark,
    )


def check_versions(pinned: tuple[tuple[str, str], ...] = PINNED) -> None:
    """Refuse a pyspark or delta-spark other than the pinned one."""
    for package, wanted in pinned:
        found = _find_version(package)
        if found != wanted:
            raise JarError(
                f"{package} {wanted} is needed, {found or 'none'} is installed: "
                f"pip install {package}=={wanted} (the JARs of jars.lock fit no other)"
            )


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _use_utc() -> None:
    # pyspark turns timestamps into naive datetimes of the process's own zone.
    os.environ["TZ"] = "UTC"
    time.tzset()


def _use_this_python(is_local: bool) -> None:
    # The `python3` of the PATH may be another version: its workers fail at the first row.
    if is_local:
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


@functools.cache
def _make_scratch() -> str:
    """Spark wants a warehouse although our tables have paths; else it makes one where it stands."""
    directory = tempfile.mkdtemp(prefix="zklake-spark-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory
