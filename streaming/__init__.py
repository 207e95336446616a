"""The log -> Delta tables. The only package that imports pyspark."""
