"""What every stage shares: the event contract, settings, errors; and the command line."""

__version__ = "0.1.0"
