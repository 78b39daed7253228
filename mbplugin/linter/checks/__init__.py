"""Computations shared by several rules."""
