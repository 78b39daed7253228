"""The configuration of a file, found upwards or named."""
