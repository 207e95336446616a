"""The one fold: events in order of seq -> rows of every table. Pure: no clock, no I/O."""
