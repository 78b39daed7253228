"""The result of a stop: times, distances, loads and energies."""
