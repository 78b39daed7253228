"""Loops in space with a closed form."""
