"""USD: stages with UsdPhysics."""
