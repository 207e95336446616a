"""Whether Spark compiles its plans to bytecode: for a small batch that costs more than it saves."""

from __future__ import annotations

from pyspark.sql import SparkSession

# Below so many rows a batch is interpreted.
_WORTH_COMPILING = 20_000


def choose_codegen(spark: SparkSession, rows: int) -> None:
    """Set what suits a batch that begins so many rows; it holds for the plans made from here on."""
    compiles = rows >= _WORTH_COMPILING
    spark.conf.set("spark.sql.codegen.wholeStage", str(compiles).lower())
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if compiles else "NO_CODEGEN")
