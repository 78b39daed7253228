"""The motion as a value: samples, reactions, energies, files and pictures."""
