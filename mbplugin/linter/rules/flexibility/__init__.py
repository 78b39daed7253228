"""MB4xx: bodies that need flexibility."""
