from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.zklake.jar_files import APPLE, NUT, PEAR, content_of, fill, make_lock, sha256_of
from zklake.doctor import CHECKS, Finding, Subject, choose_subject, examine
from zklake.doctor.machine import check_disk, check_java, check_ports
from zklake.doctor.versions import check_hashes, check_lock, check_pyspark
from zklake.jars.cache import JarCache
from zklake.jars.lock import parse_lock
from zklake.settings.load import load_with_origins

MATCHING = parse_lock(f"""
[spark]
"org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.4" = "{"0" * 64}"
"io.delta:delta-spark_4.0_2.13:4.4.0" = "{"0" * 64}"
""")
INSTALLED = {"pyspark": "4.0.4", "delta-spark": "4.4.0"}


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    cache = JarCache(fill(tmp_path / "cache", APPLE, PEAR, NUT), make_lock())
    return Subject(cache, environ={"PATH": str(tmp_path)}, version_of=INSTALLED.get, listens={})


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1
    return findings[0]


def test_without_java_it_fails_and_says_what_to_install(subject: Subject) -> None:
    finding = only(check_java(subject))
    assert finding.state == "fail"
    assert finding.found == "no java in JAVA_HOME or on PATH"
    assert "openjdk-17-jre-headless" in finding.fix


def test_a_watcher_alone_needs_no_java(subject: Subject) -> None:
    assert only(check_java(replace(subject, version_of=lambda package: None))).state == "warn"


@pytest.mark.parametrize(
    ("version", "state"), [("1.8.0_392", "fail"), ("17.0.15", "ok"), ("25.0.1", "warn")]
)
def test_java_must_be_of_the_right_age(
    subject: Subject, tmp_path: Path, version: str, state: str
) -> None:
    launcher = tmp_path / "java"
    launcher.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    launcher.chmod(0o755)
    finding = only(check_java(subject))
    assert finding.state == state
    assert version in finding.found


def test_with_a_corrupt_jar_it_fails_with_file_and_hashes(subject: Subject) -> None:
    path = subject.jars.path(PEAR)
    path.write_bytes(content_of(NUT))
    fruit, mixed = check_hashes(subject)
    assert (fruit.state, mixed.state) == ("fail", "ok")
    for part in (str(path), sha256_of(PEAR), sha256_of(NUT)):
        assert part in fruit.found
    assert fruit.fix == "delete it and run `zklake jars fetch fruit`"


def test_a_set_not_fetched_yet_is_a_warning(subject: Subject) -> None:
    subject.jars.path(NUT).unlink()
    fruit, mixed = check_hashes(subject)
    assert (fruit.state, mixed.state) == ("ok", "warn")
    assert mixed.fix == "zklake jars fetch mixed-1.0"


def test_with_a_wrong_pyspark_it_fails_with_both_versions(subject: Subject) -> None:
    wrong = {"pyspark": "4.1.0", "delta-spark": "4.4.0"}
    pyspark, delta = check_pyspark(replace(subject, version_of=wrong.get))
    assert (pyspark.state, delta.state) == ("fail", "ok")
    assert pyspark.found == "pyspark 4.1.0 is installed, 4.0.4 is needed"
    assert "pyspark==4.0.4" in pyspark.fix


def test_jars_of_another_spark_fail(subject: Subject) -> None:
    subject = replace(subject, jars=JarCache(subject.jars.directory, MATCHING))
    assert only(check_lock(subject)).state == "ok"
    other = {"pyspark": "4.1.0", "delta-spark": "4.4.0"}
    finding = only(check_lock(replace(subject, version_of=other.get)))
    assert finding.state == "fail"
    assert "spark-sql-kafka-0-10_2.13:4.1.0" in finding.found
    assert "delta-spark_4.1_2.13:4.4.0" in finding.found


def test_disk_is_measured_where_the_lake_will_be(subject: Subject, tmp_path: Path) -> None:
    cache, lake = check_disk(replace(subject, lake=tmp_path / "not" / "yet"))
    assert "GiB free" in cache.found
    assert lake.check == "disk of the lake"
    assert str(tmp_path / "not" / "yet") in lake.found


def test_a_taken_port_is_named(subject: Subject) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        finding = only(check_ports(replace(subject, listens={"watcher": listen})))
    assert (finding.state, finding.found) == ("warn", f"{listen} is in use")
    assert only(check_ports(replace(subject, listens={"watcher": listen}))).state == "ok"


def choose(subject: Subject, **environ: str) -> Subject:
    return choose_subject(subject.jars, load_with_origins(environ=environ))


def test_ports_are_those_of_the_settings(subject: Subject) -> None:
    assert choose(subject).listens == {
        "watcher": "127.0.0.1:9464",
        "stream": "127.0.0.1:9465",
        "dashboard": "127.0.0.1:8080",
    }
    chosen = choose(
        subject,
        ZKLAKE_WATCHER__HTTP="127.0.0.1:0",
        ZKLAKE_STREAM__HTTP="[::1]:7000",
        ZKLAKE_ALERTS__HTTP="127.0.0.1:7001",
    )
    assert chosen.listens == {
        "stream": "[::1]:7000",
        "dashboard": "127.0.0.1:8080",
        "alerts": "127.0.0.1:7001",
    }


def test_only_what_is_given_is_reached_for(subject: Subject) -> None:
    nothing = choose(subject)
    assert (nothing.zookeeper, nothing.log, nothing.watched, nothing.lake) == (None,) * 4
    given = choose(
        subject,
        ZKLAKE_ZOOKEEPER="zk1:2181/kafka",
        ZKLAKE_ZOOKEEPER__DIGEST="me:secret",
        ZKLAKE_LOG="a:9092",
        ZKLAKE_LOG__CLIENT__SECURITY_PROTOCOL="SSL",
        ZKLAKE_WATCHED="b:9092",
        ZKLAKE_LAKE="s3://bucket/lake",
    )
    assert given.zookeeper is not None
    assert given.zookeeper.digest is not None
    assert given.log is not None
    assert given.log.client == {"security.protocol": "SSL"}
    assert given.watched is not None
    assert given.watched.bootstrap == "b:9092"
    assert given.lake is None


def test_every_check_has_its_say(subject: Subject) -> None:
    findings = examine(subject)
    assert len(CHECKS) == 9
    assert {finding.check for finding in findings} >= {"java", "pyspark", "jars.lock"}
    assert all(finding.fix for finding in findings if finding.state != "ok")


COMMAND = "import typer; from zklake.cli.doctor import doctor; typer.run(doctor)"


def run_command(directory: Path, **more: str) -> dict[str, dict[str, str]]:
    """What `zklake doctor --json` finds without a Java; by check."""
    environ = {**os.environ, "PATH": "", "JAVA_HOME": "", "ZKLAKE_JARS_CACHE": str(directory)}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "--json"],
        env=environ | more,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    return {finding["check"]: finding for finding in json.loads(done.stdout)}


def test_the_command_prints_json_and_exits_1_on_a_failure(tmp_path: Path) -> None:
    findings = run_command(tmp_path)
    assert findings["java"]["state"] == "fail"
    assert findings["JARs of spark"]["state"] == "warn"
    assert findings["port of the watcher"]["found"].startswith("127.0.0.1:9464 is ")


def test_wrong_settings_are_a_finding_beside_the_others(tmp_path: Path) -> None:
    findings = run_command(tmp_path, ZKLAKE_ZOOKEEPER="localhost:port", ZKLAKE_SECRET_SLIP="hush")
    assert findings["settings"]["state"] == "fail"
    assert "2 settings are wrong" in findings["settings"]["found"]
    assert "hush" not in findings["settings"]["found"]
    assert findings["java"]["state"] == "fail"
