"""Processes of their own: isolated Python, foreign engines with limits, commands that are watched."""
