"""MB15x: names that refer to nothing, and what other programs make of a file."""
