"""Delta tables -> web pages and JSON. Reads a lake without a JVM, and never writes to it."""
