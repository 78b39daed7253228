"""Self-stresses of a mechanism by their entries: their bases, and equations of those that couple like a chain."""
