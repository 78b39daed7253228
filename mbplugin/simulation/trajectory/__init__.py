"""The trajectory of a motion: samples, reactions, energies, files and plots."""
