from __future__ import annotations

from pathlib import Path

import pytest

from streaming.metrics import StreamMetrics
from streaming.query import Stream
from streaming.worker import Worker
from zklake.cli.stream import plan_streams
from zklake.errors import SettingsError
from zklake.settings.load import load_settings


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_one_cluster_or_several() -> None:
    assert [p.topic for p in plan_streams(load_settings(environ={}))] == ["zklake.kafka"]
    one = load_settings(environ={"ZKLAKE_CLUSTER": "prod"})
    assert [p.cluster for p in plan_streams(one)] == ["prod"]
    several = load_settings(environ={"ZKLAKE_STREAM__CLUSTERS": "a, b", "ZKLAKE_CLUSTER": "c"})
    assert [p.topic for p in plan_streams(several)] == ["zklake.a", "zklake.b"]
    with pytest.raises(SettingsError, match="each may be named once"):
        load_settings(environ={"ZKLAKE_STREAM__CLUSTERS": "a,b,a"})


def test_client_options_reach_the_stream_and_their_secrets_no_text() -> None:
    toml = Path("zklake.toml")
    toml.write_text(
        '[log.client]\nsasl.mechanisms = "PLAIN"\nsasl.username = "u"\nsasl.password = "canary"\n'
    )
    (plan,) = plan_streams(load_settings(environ={}))
    assert plan.client["sasl.password"] == "canary"
    assert "canary" not in repr(plan)
    assert "canary" not in str(plan.explain(RuntimeError("login with canary failed")))


def test_options_that_java_does_not_know_are_refused_before_spark_starts() -> None:
    Path("zklake.toml").write_text('[log.client]\nsasl.mechanisms = "GSSAPI"\n')
    with pytest.raises(SettingsError, match="GSSAPI needs sasl"):
        plan_streams(load_settings(environ={}))


def test_a_query_that_hangs_is_ill_but_one_that_waits_is_not(tmp_path: Path) -> None:
    worker = Worker(Stream("b:1", "t", "c", str(tmp_path)), StreamMetrics(), stuck_after_s=0)
    worker.on_start()
    assert worker.find_illness() is None
    worker.on_look(5)
    assert "5 records wait" in (worker.find_illness() or "")
    worker.obstacle = "the log's Kafka does not answer"
    assert worker.find_illness() is None
