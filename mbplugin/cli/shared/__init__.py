"""Options and output shared by several commands."""
