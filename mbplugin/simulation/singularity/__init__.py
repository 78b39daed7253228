"""Singular poses: when a run crosses one, and the step across."""
