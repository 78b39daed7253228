"""A plug-in whose module cannot be imported to its end."""

raise ImportError("first\n::error title=forged::by an import")
