"""Labelled rows of every constraint."""
