"""The sections about stops."""
