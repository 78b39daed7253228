"""The motion of a task in PyBullet."""
