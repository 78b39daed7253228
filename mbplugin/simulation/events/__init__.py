"""Events: schedule, detection and values."""
