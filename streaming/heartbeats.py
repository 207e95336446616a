"""Of a heartbeat each second, znode_events keeps the first of each minute of event time."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from streaming.progress import HEARTBEAT_MS


def keep_first_of_minute(beats: DataFrame, after_minute: int) -> DataFrame:
    """The first heartbeat of every minute later than `after_minute`."""
    minute = f"observed_at_ms DIV {HEARTBEAT_MS}"
    window = Window.partitionBy("cluster", F.expr(minute)).orderBy("seq")
    later = beats.where(f"{minute} > {after_minute}")
    return later.withColumn("_rank", F.row_number().over(window)).where("_rank = 1").drop("_rank")
