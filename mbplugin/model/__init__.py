"""What is given: the mechanism, its state, and what acts on it. Values only: no files, no engine."""
