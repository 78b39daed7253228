"""Stopping tables of an arm."""
