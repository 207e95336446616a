"""Tables that compare many things over time: machines that follow the log on the driver."""
