"""The lake as the stream writes it: rows to files to commits, and back into memory at a start."""
