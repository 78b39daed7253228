"""What a stop comes to: times, distances, loads and energies."""
