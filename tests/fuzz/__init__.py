"""Seeded mutation of real model files against the readers and the linter."""
