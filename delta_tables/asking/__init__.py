"""Asking a lake without a JVM: text from outside, checked and answered in a bounded process."""
