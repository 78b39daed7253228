"""Read USD stages with UsdPhysics as a scene."""
