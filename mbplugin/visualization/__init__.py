"""Windows, pictures and films of a robot, drawn by PyBullet."""
