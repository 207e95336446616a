"""Checks of this machine: Java, disk, ports. Nothing here leaves it."""

from __future__ import annotations

import errno
import os
import shutil
import socket
from pathlib import Path

from zklake.doctor.finding import Finding, Subject
from zklake.errors import JavaError
from zklake.java import require_java

# Spark 4.0 names 17 and 21; from 24 on the JDK lacks the SecurityManager calls Hadoop makes.
NEWEST_JAVA = 21
GIB = 1 << 30
FAIL_BELOW, WARN_BELOW = 1 * GIB, 5 * GIB


def check_java(subject: Subject) -> list[Finding]:
    """A Java that Spark and the lab can run on; a watcher alone needs none."""
    try:
        java = require_java(subject.environ)
    except JavaError as error:
        found, _, fix = str(error).partition(": ")
        needed = subject.version_of("pyspark") is not None
        return [Finding("java", "fail" if needed else "warn", found, fix)]
    found = f"Java {java.version} ({java.path})"
    if java.major > NEWEST_JAVA:
        fix = f"Spark 4.0 is made for Java 17 to {NEWEST_JAVA}: point JAVA_HOME at one of those"
        return [Finding("java", "warn", found, fix)]
    return [Finding("java", "ok", found)]


def check_disk(subject: Subject) -> list[Finding]:
    """Room, and the right to write, where the lake and the JARs live."""
    places = [("disk of the JAR cache", subject.jars.directory)]
    if subject.lake is not None:
        places.append(("disk of the lake", subject.lake))
    return [_measure_disk(name, path) for name, path in places]


def check_ports(subject: Subject) -> list[Finding]:
    """Whether the daemons' HTTP ports can be bound; a running daemon of ours holds its own."""
    return [_try_port(f"port of the {name}", at) for name, at in subject.listens.items()]


def _measure_disk(check: str, path: Path) -> Finding:
    existing = next(
        place for place in (path.absolute(), *path.absolute().parents) if place.exists()
    )
    if not os.access(existing, os.W_OK):
        return Finding(
            check, "fail", f"{existing} is not writable", "make it writable for this user"
        )
    free = shutil.disk_usage(existing).free
    found = f"{free / GIB:.1f} GiB free at {path}"
    if free >= WARN_BELOW:
        return Finding(check, "ok", found)
    return Finding(check, "fail" if free < FAIL_BELOW else "warn", found, "free disk space")


def _try_port(check: str, listen: str) -> Finding:
    host, _, port = listen.rpartition(":")
    # As zklake.health and the dashboard do.
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    with socket.socket(family) as probe:
        # As servers do, so that a port in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
        except OSError as error:
            reason = "in use" if error.errno == errno.EADDRINUSE else str(error.strerror)
            fix = "fine if your own zklake uses it; otherwise choose another port in the settings"
            return Finding(check, "warn", f"{listen} is {reason}", fix)
    return Finding(check, "ok", f"{listen} is free")
