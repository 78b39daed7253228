"""Linting of several files in parallel, and comparison with a baseline."""
