"""Incidents, found in the lake's history, and sent to people once. Writes only its own journal."""
