"""The sections of a chapter, one for each kind of result."""
