"""The lake as /metrics: our names, and what every set of names is made of."""
