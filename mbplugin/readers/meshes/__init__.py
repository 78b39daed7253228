"""Mesh files that models name."""
