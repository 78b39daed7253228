"""Read URDF and Extended URDF as a scene."""
