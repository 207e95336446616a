"""One table, one file."""
