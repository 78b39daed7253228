"""The JSON documents of the commands, and their schemas."""
