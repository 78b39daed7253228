"""Descents to a closed pose: their steps, on dense and on sparse Jacobians."""
