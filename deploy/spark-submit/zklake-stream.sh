#!/usr/bin/env bash
# `zklake stream` on a Spark cluster. What stands before -- is spark-submit's, the rest is zklake's:
#
#   zklake-stream.sh --master spark://spark:7077 --executor-memory 2g -- \
#       --log logkafka:9092 --cluster prod --lake /shared/lake
#
# Needs zklake[stream] on the PATH, the JARs (zklake jars fetch spark), and a cluster with the same
# Spark as zklake's pyspark. SPARK_HOME: another spark-submit than the one of zklake's pyspark.
set -euo pipefail

submit=()
while [[ $# -gt 0 && $1 != -- ]]; do
  submit+=("$1")
  shift
done
if [[ $# -eq 0 ]]; then
  echo "usage: ${0##*/} SPARK-SUBMIT-OPTION... -- ZKLAKE-STREAM-OPTION..." >&2
  exit 2
fi
shift

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(dirname "$(command -v zklake)")
jars=$(zklake jars path spark)
# The driver is this Python; there is no Python on the executors.
export PYSPARK_DRIVER_PYTHON=${PYSPARK_DRIVER_PYTHON:-$bin/python}

# The lake and its lease are files: a path without a scheme is one, whatever the cluster's default.
exec "${SPARK_HOME:+$SPARK_HOME/bin/}spark-submit" \
  --deploy-mode client \
  --name zklake-stream \
  --jars "${jars//:/,}" \
  --conf spark.hadoop.fs.defaultFS=file:/// \
  "${submit[@]}" \
  "$here/job.py" "$@"
