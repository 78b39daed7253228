"""MB12x: what joints state about limits, dynamics and directions."""
