"""Delta tables -> web pages, JSON, /metrics. Never imports pyspark."""
