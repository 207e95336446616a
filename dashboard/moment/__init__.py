"""The cluster at one moment: what stood then, what differs from now, where it changed."""
