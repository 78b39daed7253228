"""The only package that uses PyBullet: sessions, reading a live client, building mechanisms and computing motions."""
