"""MB9xx: input that cannot be used."""
