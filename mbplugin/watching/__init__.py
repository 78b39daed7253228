"""Watch a running simulation: which forces are determined, and whether the engine's numbers are possible."""
