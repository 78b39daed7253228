"""Scenarios of stops."""
