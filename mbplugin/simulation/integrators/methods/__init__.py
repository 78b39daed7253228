"""The integrators that can be chosen, one per file: the name of the file is the name of the integrator."""
