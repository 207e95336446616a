"""The whole product on a secured cluster: it works, and no secret leaves, theirs or ours."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

from auditor.audit import Audit, Pace
from auditor.lake import Lake
from auditor.log import open_log
from auditor.metrics import AuditMetrics
from auditor.tree import open_tree
from tests.auditor.planting import find_subject, plant_defects
from tests.e2e.secured_cluster import (
    CONFIGS,
    PATIENCE_S,
    SIGN,
    SecuredPipeline,
    list_acls,
    secret,
    secured_cluster,
)
from tests.leaks import find_in_files, list_descendants, read_command_lines, read_topic
from tests.watcher.watching import wait_for
from zklake.errors import LogError
from zklake.settings.load import load_settings

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.spark,
    pytest.mark.integration,
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("ignore:unclosed <socket"),
]
PAGES = (
    "/", "/groups", "/group?group_id=billing", "/rebalances", "/topics", "/topic?topic=orders",
    "/brokers", "/changes", "/at?time=-1m", "/quality?last=7d", "/metrics",
    "/api/changes", "/api/topic?topic=orders", "/api/overview",
    "/sql?query=SELECT+*+FROM+config_history", "/sql?query=SELECT+*+FROM+znode_events",
    "/sql?query=SELECT+*+FROM+quarantine",
)  # fmt: skip


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredPipeline]:
    """Everything has run: what happened can be looked at."""
    directory = tmp_path_factory.mktemp("secured")
    (directory / "identity").mkdir()
    with secured_cluster(directory / "identity") as cluster:
        pipeline = SecuredPipeline(cluster, directory)
        (pipeline.place / "checkpoints").mkdir()
        try:
            play(pipeline)
            yield pipeline
        finally:
            pipeline.stop()


def play(pipeline: SecuredPipeline) -> None:
    """A first look is folded, then a large batch in tasks, while people look at pages."""
    pipeline.start("watch")
    pipeline.wait_until_ready("watch")
    rounds = r"zklake_watcher_sample_rounds_total [1-9]"
    wait_for("samples", lambda: re.search(rounds, pipeline.get("watch", "/metrics")[1]), PATIENCE_S)
    for _ in range(10):
        done = pipeline.run("stream", "--once")
        if done.returncode != LogError.exit_code:  # on a busy machine brokers seem to be away
            break
    assert done.returncode == 0, done.stderr
    for number in range(300):
        config = {**CONFIGS, "retention.ms": str(2000 + number)}
        data = json.dumps({"version": 1, "config": config})
        pipeline.cluster.owner.set("/config/topics/orders", data.encode())
    pipeline.cluster.produce(200)
    time.sleep(3)
    pipeline.start("stream")
    pipeline.wait_until_ready("stream")
    pipeline.start("dashboard")
    pipeline.start("alerts", "run")
    pipeline.wait_until_ready("dashboard")
    newest = "SELECT 1 FROM config_history WHERE is_open AND value = '2299'"
    wait_for("the last change in the lake", lambda: pipeline.query(newest), PATIENCE_S)


def test_everything_is_read_with_the_keys(pipeline: SecuredPipeline) -> None:
    stranger = KazooClient(pipeline.cluster.zookeeper.connect_string)
    stranger.start()
    try:
        with pytest.raises(NoAuthError):
            stranger.get("/config/topics/orders")
    finally:
        stranger.stop()
        stranger.close()
    unread = "SELECT path FROM znode_events WHERE fidelity = 'unreadable' OR op = 'unreadable'"
    assert pipeline.query(unread) == []
    rows = pipeline.query(
        "SELECT value FROM config_history WHERE entity_name = 'orders' "
        "AND config_key = 'retention.ms' AND is_open"
    )
    assert rows == [{"value": "2299"}]
    lag = (
        "SELECT topic, partition FROM offset_lag WHERE group_id = 'billing' AND is_open ORDER BY 2"
    )
    assert [row["partition"] for row in pipeline.query(lag)] == [0, 1]


def test_a_large_batch_was_folded_in_tasks(pipeline: SecuredPipeline) -> None:
    said = (pipeline.place / "stream.log").read_text()
    status, metrics = pipeline.get("stream", "/metrics")
    assert status == 200
    timed = [line for line in metrics.splitlines() if 'phase="tasks"' in line and "count" in line]
    assert timed, said[-3000:]
    assert float(timed[0].rpartition(" ")[2]) >= 1


def test_the_doctor_sees_all_three(pipeline: SecuredPipeline) -> None:
    done = pipeline.run("doctor", "--json", "--watched", pipeline.cluster.address)
    findings = {each["check"]: each for each in json.loads(done.stdout)}
    servers = [each for name, each in findings.items() if name.startswith(("zookeeper", "kafka"))]
    assert len(servers) == 3
    assert {each["state"] for each in servers} == {"ok"}, servers


@pytest.mark.parametrize(
    ("resource", "right"),
    [
        (ResourceType.TOPIC, AclOperation.READ),
        (ResourceType.TOPIC, AclOperation.WRITE),
        (ResourceType.TOPIC, AclOperation.DESCRIBE_CONFIGS),
        (ResourceType.TOPIC, AclOperation.CREATE),
        (ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE),
    ],
)
def test_each_right_of_the_watcher_is_needed_and_its_lack_is_said(
    pipeline: SecuredPipeline, resource: ResourceType, right: AclOperation
) -> None:
    name = f"lacks-{resource.name}-{right.name}"
    lacking = [
        acl
        for acl in list_acls(name)
        if (acl.restype, acl.operation) != (resource, right) or "watcher" not in acl.principal
    ]
    pipeline.cluster.allow(lacking)
    pipeline.configs[name] = pipeline.place.parent / f"{name}.toml"
    pipeline.configs[name].write_text(pipeline.describe(name, "watcher"))
    done = pipeline.run("watch", "--once", config=name)
    if right is AclOperation.DESCRIBE_CONFIGS:
        # The first start made the topics, and knows how they are.
        assert done.returncode == 0, done.stderr
        done = pipeline.run("watch", "--once", config=name)
    assert done.returncode == LogError.exit_code, done.stderr
    assert "uthorization failed" in done.stderr.splitlines()[-1]


def test_the_auditor_agrees_with_every_table(pipeline: SecuredPipeline) -> None:
    """With the watcher's own rights."""
    done = pipeline.run("audit", "--json")
    report = json.loads(done.stdout)
    assert (report["findings"], report["undecided"], report["gaps"]) == ([], 0, [])
    assert done.returncode == 0, done.stderr
    assert report["znodes"] > 8
    assert report["records"] > 300


def test_the_auditor_finds_what_is_planted(pipeline: SecuredPipeline, tmp_path: Path) -> None:
    settings = load_settings(pipeline.configs["watcher"], {})
    live = Lake(settings.lake.path, settings.cluster)
    with (
        open_tree(settings.zookeeper, 1000) as tree,
        open_log(settings.log.bootstrap, settings.log.client, settings.cluster) as log,
    ):
        # Nothing is on its way when the copy is made.
        assert Audit(tree, live, log, Pace(poll_s=0.1)).run().findings == []
        copy = plant_defects(live, tmp_path / "copy")
        report = Audit(tree, copy, log, Pace(poll_s=0.1)).run()
    found = sorted((one.verdict, one.table, find_subject(one)) for one in report.findings)
    assert found == sorted(copy.planted)
    blamed = {find_subject(one): one.says for one in report.findings if one.table == "topics"}
    assert "the row is missing" in blamed["/brokers/topics/orders"], "the event is there"
    metrics = AuditMetrics()
    metrics.note(report)
    for table, verdict in report.count():
        labels = {"cluster": settings.cluster, "table": table}
        count = metrics.registry.get_sample_value(f"zklake_audit_{verdict}", labels)
        assert count == report.count()[table, verdict] > 0


def test_no_secret_is_in_topics_lake_logs_and_files(pipeline: SecuredPipeline) -> None:
    cluster = pipeline.cluster
    for topic in ("zklake.secured", "zklake.secured.tree"):
        records = read_topic(cluster.broker.bootstrap, topic)
        assert len(records) > 10
        assert not [record for record in records if SIGN.encode() in record]
    for arguments in (("config", "show"), ("doctor",), ("alerts", "list")):
        pipeline.run(*arguments)
    logs = [path.name for path in pipeline.place.glob("*.log")]
    assert {"watch.log", "stream.log", "dashboard.log", "alerts.log"} <= set(logs)
    # The lake with its quarantine, checkpoints, journal, hash key, every log. The settings' files
    # hold ours: the search does find them.
    settings = sorted(map(str, pipeline.configs.values()))
    assert sorted(find_in_files(pipeline.place.parent, [SIGN])) == settings
    withheld = "SELECT count(*) AS n FROM config_history WHERE is_redacted AND value IS NULL"
    assert pipeline.query(withheld)[0]["n"] >= 2 * (len(CONFIGS) - 1), "masked, not missing"


def test_no_secret_is_on_a_command_line(pipeline: SecuredPipeline) -> None:
    pids = [
        pid for one in pipeline.processes.values() for pid in (one.pid, *list_descendants(one.pid))
    ]
    lines = [*read_command_lines(pids)]
    assert any("zklake watch" in line for line in lines)
    assert any("java" in line for line in lines)
    assert not [line for line in lines if SIGN in line]


def test_no_secret_is_on_a_page_or_in_the_audit_log(pipeline: SecuredPipeline) -> None:
    for path in PAGES:
        status, text = pipeline.open_page(path)
        assert status == 200, (path, text[:500])
        assert SIGN not in text, path
    for name in ("watch", "stream"):
        for path in ("/metrics", "/readyz", "/healthz"):
            assert SIGN not in pipeline.get(name, path)[1]
    wrong = pipeline.get("dashboard", "/", {"Authorization": f"Bearer {secret('typed')}"})
    assert wrong[0] == 401
    assert SIGN not in wrong[1]
    pipeline.open_page(f"/sql?query=SELECT+'{secret('asked')}'+AS+a+FROM+topics")
    audit = (pipeline.place / "audit.jsonl").read_text()
    assert len(audit.splitlines()) >= 3
    assert SIGN not in audit
    assert SIGN not in (pipeline.place / "dashboard.log").read_text()


def test_no_secret_is_left_where_spark_works(pipeline: SecuredPipeline) -> None:
    """Its temporary directories, while it runs."""
    found = []
    for pid in list_descendants(pipeline.processes["stream"].pid):
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                target = Path(os.readlink(link))
            except OSError:
                continue
            if target.is_file() and "spark" in str(target) and target.suffix != ".jar":
                found += [str(target)] if SIGN.encode() in target.read_bytes() else []
    assert found == []
