"""One rule per file; the module's docstring is the rule's documentation."""
