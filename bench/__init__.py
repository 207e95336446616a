"""What the watcher can do, measured on real servers: ratios against a control of the same run."""
