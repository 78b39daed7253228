"""A live PyBullet client as a scene."""
