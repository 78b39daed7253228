"""MB5xx: poses: rounded, singular, not assembled, beyond limits."""
