"""What a task on another machine must have: our own packages, sent to it as one archive.

What they need of others (the extra `stream`) must be installed there, in the Python that Spark's
`spark.pyspark.python` names.
"""

from __future__ import annotations

import zipfile
from importlib import import_module
from pathlib import Path

from pyspark.sql import SparkSession

# All that a task imports.
PACKAGES = ("zklake", "delta_tables", "streaming")


def ship_packages(spark: SparkSession, directory: Path) -> None:
    """Send them to every executor; `directory` must stay, for those that come later."""
    spark.sparkContext.addPyFile(str(pack_packages(directory / "zklake.zip")))


def pack_packages(archive: Path) -> Path:
    """Write the archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in PACKAGES:
            root = Path(str(import_module(name).__file__)).parent
            for file in sorted(root.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    packed.write(file, Path(name) / file.relative_to(root))
    return archive
