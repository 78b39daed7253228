"""Redundant rows, made into independent ones: one way per file.

All methods give the same motion; their multipliers agree only for unique reactions.
"""
