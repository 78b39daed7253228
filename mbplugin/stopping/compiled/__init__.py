"""Stops in one compiled call, for trees."""
