"""Mass properties of bodies."""
