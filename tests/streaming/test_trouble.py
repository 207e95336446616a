"""What errors of others mean, told by the errors themselves: each is provoked, none is quoted."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pyarrow.fs
import pytest
from pyspark.sql import DataFrame, SparkSession

from delta_tables.catalog import TABLES
from delta_tables.creation import create_table
from delta_tables.tables.znode_events import ZNODE_EVENTS
from lab.cluster import Cluster
from streaming.lake.arrow_rows import find_schema
from streaming.lake.parquet_file import store_file
from streaming.lake.writer import Mark, TableWriter
from streaming.log.source import read_log
from streaming.trouble import NotWritable, explain
from tests.streaming.story import Story
from tests.streaming.topic import Topic
from zklake.errors import LakeError, LogError, ZklakeError


def judge(error: BaseException) -> ZklakeError:
    return explain(error, log="topic t on h", lake="/lake/c")


def fail(spark: SparkSession, bootstrap: str, topic: str, offset: int, place: Path) -> ZklakeError:
    """What a query says that reads this, as the stream would."""

    def ignore(records: DataFrame, _id: int) -> None:
        records.count()

    log = read_log(spark, bootstrap, topic, offset, max_records=100, client={})
    query = (
        log.writeStream.foreachBatch(ignore)
        .option("checkpointLocation", str(place / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    with pytest.raises(Exception) as failed:  # noqa: PT011 - of any kind: that is the question
        query.awaitTermination(300)
    return judge(failed.value)


@pytest.mark.spark
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore:unclosed <socket")
class TestSpark:
    def test_records_that_are_gone(
        self, spark: SparkSession, cluster: Cluster, tmp_path: Path
    ) -> None:
        topic = Topic(cluster.bootstrap)
        topic.write(Story().register(1, czxid=10).register(2, czxid=11).events)
        topic.trim(3)
        for number in range(10):
            meaning = fail(spark, cluster.bootstrap, topic.name, 0, tmp_path / str(number))
            if "TimeoutException" not in str(meaning):  # of a busy machine
                break
        assert type(meaning) is LakeError, meaning
        assert "no longer holds what follows the lake /lake/c" in str(meaning)

    def test_a_topic_that_is_not_there(
        self, spark: SparkSession, cluster: Cluster, tmp_path: Path
    ) -> None:
        meaning = fail(spark, cluster.bootstrap, "zklake.nowhere", 0, tmp_path)
        assert isinstance(meaning, LogError), meaning

    def test_a_broker_that_is_away(self, spark: SparkSession, tmp_path: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            nobody = f"127.0.0.1:{taken.getsockname()[1]}"
            meaning = fail(spark, nobody, "zklake.away", 0, tmp_path)
        assert isinstance(meaning, LogError), meaning


def test_a_full_disk() -> None:
    """/dev/full is one."""
    with pytest.raises(OSError) as failed:  # noqa: PT011
        store_file(pyarrow.fs.LocalFileSystem(), "/dev/full", b"x" * 100_000)
    meaning = judge(failed.value)
    assert isinstance(meaning, NotWritable)
    assert meaning.reason == "the disk is full"


def test_a_file_where_a_directory_must_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception) as failed:  # noqa: PT011
        create_table(ZNODE_EVENTS, str(tmp_path / "file" / "c" / "znode_events"))
    meaning = judge(failed.value)
    assert isinstance(meaning, NotWritable), failed.value
    assert meaning.reason == "a file stands where a directory must be"


@pytest.mark.parametrize(
    "number", [errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO, errno.ESTALE]
)
def test_the_words_of_the_operating_system(number: int) -> None:
    """As this system's own library says them; to provoke them takes disks of one's own."""
    meaning = judge(OSError(number, os.strerror(number)))
    assert isinstance(meaning, NotWritable), meaning


def test_two_who_write_one_table(tmp_path: Path) -> None:
    table = next(table for table in TABLES if table.name == "log_gaps")
    create_table(table, str(tmp_path))
    first, second = TableWriter(str(tmp_path), table), TableWriter(str(tmp_path), table)
    rows = find_schema(table.name).empty_table()
    for number, writer in enumerate((first, second)):
        writer.append(rows, Mark("log", number))
    with pytest.raises(LakeError, match="only one stream may fold") as failed:
        first.append(rows, Mark("log", 3))
    assert judge(failed.value) is failed.value, "told already"
