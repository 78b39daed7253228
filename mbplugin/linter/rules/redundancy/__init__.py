"""MB2xx: redundant constraints."""
