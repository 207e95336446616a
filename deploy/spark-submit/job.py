"""`zklake stream` as the driver that spark-submit starts; zklake-stream.sh hands it over.

The session is made here, before the command asks for one: master, memory and JARs are those of
spark-submit, everything else is as in any `zklake stream`.
"""

from __future__ import annotations

import sys

from pyspark import SparkConf, SparkContext

from streaming.session import build_session
from zklake.cli.main import main


def adopt_session() -> None:
    """A session with our settings, where spark-submit's own win."""
    SparkContext._ensure_initialized()  # connects to its JVM; only then are its options there
    submitted = dict(SparkConf().getAll())
    build_session("zklake-stream", master=submitted["spark.master"], settings=submitted)


if __name__ == "__main__":
    adopt_session()
    sys.argv[1:1] = ["stream"]
    main()
