"""consumption_pauses: when a group made no progress although records were there, and what held."""
