"""The Java on this machine: found in JAVA_HOME, then on PATH, and new enough.

It must not know what Java is wanted for; whoever starts a JVM asks `require_java()` first.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zklake.errors import JavaError

OLDEST_JAVA = 17
INSTALL_HINT = (
    f"install Java {OLDEST_JAVA} or newer (e.g. the package openjdk-17-jre-headless) "
    "or point JAVA_HOME at one"
)


class Java(NamedTuple):
    """A Java launcher and what `java -version` says of it."""

    path: Path
    version: str

    @property
    def major(self) -> int:
        """The feature release: 17 of 17.0.15, and 8 of 1.8.0_392."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def find_java(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The launcher Spark would take too: JAVA_HOME's, else the first on PATH."""
    if home := environ.get("JAVA_HOME"):
        launcher = Path(home, "bin", "java")
        if os.access(launcher, os.X_OK):
            return launcher
    found = shutil.which("java", path=environ.get("PATH", ""))
    return Path(found) if found else None


def read_version(launcher: Path) -> Java:
    """Ask the launcher for its version (a JVM start: some 0.1 s)."""
    try:
        answer = subprocess.run(
            [launcher, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaError(f"{launcher} does not run ({error}): {INSTALL_HINT}") from error
    # JAVA_TOOL_OPTIONS puts a line of its own before this one.
    version = re.search(r'version "(\d[^"]*)"', answer.stderr + answer.stdout)
    if version is None:
        raise JavaError(f"{launcher} -version prints no version: {INSTALL_HINT}")
    return Java(launcher, version.group(1))


def require_java(environ: Mapping[str, str] = os.environ) -> Java:
    """A Java that is new enough, or one line saying what to install."""
    launcher = find_java(environ)
    if launcher is None:
        raise JavaError(f"no java in JAVA_HOME or on PATH: {INSTALL_HINT}")
    java = read_version(launcher)
    if java.major < OLDEST_JAVA:
        raise JavaError(f"{java.path} is Java {java.version}, too old: {INSTALL_HINT}")
    return java
