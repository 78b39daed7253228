"""The only room that talks to PyBullet: sessions, and reading a live client."""
