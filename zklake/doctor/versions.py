"""Checks that pyspark, delta-spark and the JARs are one matching set, byte for byte."""

from __future__ import annotations

from zklake.doctor.finding import Finding, Subject
from zklake.jars.lock import Coordinate
from zklake.jars.wanted import DELTA_VERSION, PYSPARK_VERSION

SCALA = "2.13"


def check_pyspark(subject: Subject) -> list[Finding]:
    """The pinned pyspark and the delta-spark that belongs to it."""
    pinned = (("pyspark", PYSPARK_VERSION), ("delta-spark", DELTA_VERSION))
    return [_compare(name, wanted, subject.version_of(name)) for name, wanted in pinned]


def check_lock(subject: Subject) -> list[Finding]:
    """jars.lock names the connector of this pyspark and the Delta of this delta-spark."""
    spark = subject.version_of("pyspark") or PYSPARK_VERSION
    delta = subject.version_of("delta-spark") or DELTA_VERSION
    spark_line = ".".join(spark.split(".")[:2])
    wanted = [
        Coordinate("org.apache.spark", f"spark-sql-kafka-0-10_{SCALA}", spark),
        Coordinate("io.delta", f"delta-spark_{spark_line}_{SCALA}", delta),
    ]
    locked = subject.jars.lock.get("spark", {})
    if lost := [str(jar) for jar in wanted if jar not in locked]:
        found = f"jars.lock lacks {', '.join(lost)}"
        return [Finding("jars.lock", "fail", found, _install_fix())]
    found = ", ".join(f"{jar.artifact} {jar.version}" for jar in wanted)
    return [Finding("jars.lock", "ok", found)]


def check_hashes(subject: Subject) -> list[Finding]:
    """Every JAR in the cache is the one in jars.lock; a missing set is only not fetched yet."""
    return [_inspect_set(subject, name) for name in subject.jars.lock]


def _compare(package: str, wanted: str, installed: str | None) -> Finding:
    if installed is None:
        fix = f"fine for a watcher alone; otherwise {_install_fix()}"
        return Finding(package, "warn", f"{package} is not installed", fix)
    if installed != wanted:
        found = f"{package} {installed} is installed, {wanted} is needed"
        return Finding(package, "fail", found, _install_fix())
    return Finding(package, "ok", f"{package} {installed}")


def _install_fix() -> str:
    return f"pip install pyspark=={PYSPARK_VERSION} delta-spark=={DELTA_VERSION}"


def _inspect_set(subject: Subject, set_name: str) -> Finding:
    check, states = f"JARs of {set_name}", subject.jars.verify([set_name])
    wrong = [jar for jar in states if jar.state == "wrong"]
    if wrong:
        found = "; ".join(
            f"{jar.path} has sha256 {jar.actual_sha256}, jars.lock has {jar.expected_sha256}"
            for jar in wrong
        )
        return Finding(check, "fail", found, f"delete it and run `zklake jars fetch {set_name}`")
    missing = sum(jar.state == "missing" for jar in states)
    if missing:
        found = f"{missing} of {len(states)} are not in {subject.jars.directory}"
        return Finding(check, "warn", found, f"zklake jars fetch {set_name}")
    return Finding(check, "ok", f"{len(states)} with the right sha256")
