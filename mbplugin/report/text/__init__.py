"""Text reports, one per command."""
