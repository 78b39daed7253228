"""Labelled rows, the constraint matrix, its reduction to joint rates, and closing a pose."""
