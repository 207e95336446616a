"""The log: where it is read, whether it is still the same one, and what its records say."""
