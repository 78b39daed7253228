"""Read MJCF as a scene, compiled by the mujoco package in a separate process."""
