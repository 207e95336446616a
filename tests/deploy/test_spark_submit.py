"""What the script hands to spark-submit; a run on a cluster takes minutes, and is made by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.commands import parse
from tests.deploy.exported import DEPLOY
from zklake import jars

SCRIPT = DEPLOY / "spark-submit" / "zklake-stream.sh"
ZKLAKE = ["--log", "logkafka:9092", "--cluster", "prod", "--lake", "/shared/lake"]
SUBMIT = ["--master", "spark://spark:7077", "--conf", "spark.executor.extraJavaOptions=-Da=b c"]


def run_script(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """With a spark-submit that prints what it gets, a line for each word."""
    program = home / "bin" / "spark-submit"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "python=$PYSPARK_DRIVER_PYTHON"\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "SPARK_HOME": str(home), "PATH": path}
    return subprocess.run(
        [SCRIPT, *words], env=environ, capture_output=True, text=True, check=False
    )


def test_the_stream_is_handed_over_with_its_jars(tmp_path: Path) -> None:
    done = run_script(tmp_path, *SUBMIT, "--", *ZKLAKE)
    if "zklake jars fetch" in done.stderr:
        pytest.skip("NOT CHECKED: the JARs are not fetched yet (make install)")
    assert done.returncode == 0, done.stderr
    python, *words = done.stdout.splitlines()
    # Which of its names (python, python3.11) stands there is up to who made the environment.
    driver = Path(python.removeprefix("python="))
    assert (driver.parent, driver.resolve()) == (
        Path(sys.executable).parent,
        Path(sys.executable).resolve(),
    )
    job = words.index(str(SCRIPT.with_name("job.py")))
    handed = words[words.index("--jars") + 1]
    assert handed.split(",") == [str(path) for path in jars.paths("spark")]
    assert words[:job][-len(SUBMIT) :] == SUBMIT
    assert words[job + 1 :] == ZKLAKE
    assert parse(["stream", *words[job + 1 :]]) == "stream"


def test_without_the_two_dashes_it_says_how_it_is_called(tmp_path: Path) -> None:
    done = run_script(tmp_path, "--master", "spark://spark:7077")
    assert done.returncode == 2
    assert "SPARK-SUBMIT-OPTION... -- ZKLAKE-STREAM-OPTION..." in done.stderr
