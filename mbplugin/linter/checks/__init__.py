"""Mechanics that several rules share."""
