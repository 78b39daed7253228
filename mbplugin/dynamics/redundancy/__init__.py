"""Redundant rows, made into independent ones: one way per file.

All ways give one motion; the multipliers that they give agree only where the reactions are unique.
"""
