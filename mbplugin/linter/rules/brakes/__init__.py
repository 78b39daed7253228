"""MB6xx: brakes."""
