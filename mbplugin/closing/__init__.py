"""Closures that a simulator can hold: where loops are cut, what closes them, and how far they drift."""
