"""The model: the mechanism, its state, and the forces on it. Values only: no files, no engine."""
