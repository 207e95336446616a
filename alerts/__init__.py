"""Incidents, found in the lake's history, and told to people once. Writes only its own journal."""
