"""Planar loops, solved in closed form dyad by dyad."""
