"""Windows and pictures of a robot, drawn by PyBullet."""
