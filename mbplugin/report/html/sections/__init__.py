"""The sections of a chapter, one per kind of value."""
