"""A copy of the product, in which a recipe of CONTRIBUTING.md is followed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_product(copy: Path, *packages: str) -> None:
    """These packages, as they are."""
    for package in packages:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, copy / package, ignore=ignored)


def insert(file: Path, line: str, *, before: str) -> None:
    """Put a line before another one, which must be there once."""
    text = file.read_text()
    assert text.count(line) == 1, f"{file.name} has changed: mend this test"
    file.write_text(text.replace(line, before + line))


def run(copy: Path, *argv: str) -> str:
    """What Python prints in the copy; tests and what was not copied are the repository's."""
    ran = subprocess.run(
        [sys.executable, *argv],
        env={**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"},
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
