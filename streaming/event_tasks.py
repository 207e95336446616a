"""Spark for a rebuild: it starts with the first stretch of the log that tasks are to fold."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from delta_tables.tables.znode_events import ZNODE_EVENTS
from streaming.division import Outcome
from streaming.fold.part import PartStart
from streaming.lake.events import Stretch
from streaming.lake.lake import Lake
from streaming.session import start_spark
from streaming.tasks import fold_events_in_tasks
from zklake.errors import LakeError
from zklake.settings.models import StreamSettings


class EventTasks:
    """Folds stretches of a lake's znode_events in Spark tasks."""

    def __init__(self, lake: Lake, options: StreamSettings) -> None:
        self._path, self._options = lake.table_path(ZNODE_EVENTS), options
        self._spark: SparkSession | None = None

    def __call__(self, start: PartStart, stretch: Stretch) -> list[Outcome]:
        """What each task makes of its part."""
        if self._spark is None:
            self._spark = start_spark(self._options)
        seq = sf.col("seq")
        try:
            events = self._spark.read.format("delta").load(self._path)
            events = events.where((seq > stretch.after_seq) & (seq <= stretch.last_seq))
            return fold_events_in_tasks(self._spark, events, start)
        except PySparkException as error:
            where = f"{self._path} from {self._options.master}"
            reason = str(error).partition("\n")[0]
            raise LakeError(
                f"Spark cannot read {where}: {reason}. Its executors must see the lake; "
                "ZKLAKE_STREAM__MASTER='local[*]' rebuilds on this machine alone"
            ) from error

    def close(self) -> None:
        """Stop Spark, if it was started."""
        if self._spark is not None:
            self._spark.stop()
