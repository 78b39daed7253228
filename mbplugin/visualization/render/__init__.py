"""Pictures and films without a window."""
