"""Text reports of the commands."""
