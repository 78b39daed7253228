"""Measured stops: the file, its units, its rows, and which of them are fitted."""
