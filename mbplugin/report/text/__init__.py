"""Reports for people, one per command."""
