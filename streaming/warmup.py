"""A few folds into a scratch lake, so that the first real batch does not pay for a cold JVM."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from streaming.job import Fold
from streaming.lake import Lake
from streaming.progress import Progress
from streaming.relation import make_relation
from zklake.events.envelope import Event, Stat, encode

_REGISTRATION = (
    '{"version":5,"host":"127.0.0.1","port":9092,"jmx_port":-1,"timestamp":"1794793246657",'
    '"endpoints":["PLAINTEXT://127.0.0.1:9092"],'
    '"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"features":{}}'
)


def warm_up(spark: SparkSession, rounds: int = 3) -> None:
    """Fold the lives of one broker, as many batches as given."""
    with tempfile.TemporaryDirectory(prefix="zklake-warmup-") as path:
        lake = Lake(spark, path, "warmup")
        lake.create_tables()
        fold = Fold(lake, Progress())
        for round_ in range(rounds):
            values = [encode(event) for event in _live(3 * round_)]
            fold.fold_batch(frame_records(spark, values, offset=3 * round_))


def frame_records(
    spark: SparkSession, values: Sequence[bytes], topic: str = "warmup", offset: int = 0
) -> DataFrame:
    """Values as rows of Spark's Kafka source."""
    rows = [
        {"value": b64encode(value).decode(), "offset": offset + number}
        for number, value in enumerate(values)
    ]
    return make_relation(spark, "value STRING, offset BIGINT", rows).selectExpr(
        "unbase64(value) AS value",
        f"'{topic}' AS topic",
        "0 AS partition",
        "offset",
        "TIMESTAMP '2026-01-01 00:00:00' AS timestamp",
    )


def _live(seq: int) -> list[Event]:
    at_ms = 1_794_793_246_657 + 60_000 * seq
    stat = Stat(czxid=seq + 1, mzxid=seq + 1, ctime=at_ms, mtime=at_ms, version=1)
    path, kind = "/brokers/ids/1", "broker"
    return [
        Event(
            "warmup",
            "warmup",
            seq,
            "set",
            at_ms,
            path=path,
            kind=kind,
            data=_REGISTRATION,
            stat=stat,
        ),
        Event("warmup", "warmup", seq + 1, "delete", at_ms, path=path, kind=kind),
        Event("warmup", "warmup", seq + 2, "heartbeat", at_ms),
    ]
