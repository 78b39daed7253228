"""MJCF as a scene, compiled by the mujoco package in a process of its own."""
