"""Stops of a moving robot."""
