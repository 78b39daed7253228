"""Separate processes: isolated Python, third-party engines with limits, supervised commands."""
