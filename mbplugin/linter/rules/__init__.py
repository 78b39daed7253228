"""The rules: a file for each that has a check of its own, and a file for each kind of the others."""
