"""The only package that uses PyBullet: sessions, and reading a live client."""
