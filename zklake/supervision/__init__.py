"""Keeps the processes of `zklake run` going, on anybody's cluster. Imports nothing heavy."""
