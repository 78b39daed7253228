"""Rules about other programs that shall read the file."""
