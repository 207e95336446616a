"""What each table is, and reading it without a JVM. SQL as text: no pyspark import."""
