"""The sections of a chapter, each of which tells one kind of value."""
