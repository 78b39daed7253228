"""MB14x: masses and inertias that are possible, and most likely not meant."""
