"""The tables of one lake as they are now, followed without a JVM: what pages and rules read."""
