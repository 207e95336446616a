"""What a person may set, where it came from, and why it was refused. Importing this is cheap."""
