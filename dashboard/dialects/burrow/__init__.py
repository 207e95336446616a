"""Burrow's HTTP API over the lake: who asked Burrow asks us by changing an address."""
