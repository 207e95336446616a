"""The contract: what an event is, which znodes there are, and how their payloads read."""
