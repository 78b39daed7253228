"""The text of the commands about stops."""
