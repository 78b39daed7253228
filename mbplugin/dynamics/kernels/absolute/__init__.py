"""Absolute coordinates, compiled: every body moves by itself, and every pair is rows between two of them.

Nothing here goes along the tree, so that these accelerations confirm those of the recursions.
"""
