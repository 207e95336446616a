"""`zklake erase`: a value that got in is gone from the log, the tables and their old files."""
