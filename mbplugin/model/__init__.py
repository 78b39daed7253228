"""The model: the mechanism, its state, and the forces on it. Only values: no files, no physics engine."""
