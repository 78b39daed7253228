"""One rule per file, in folders by subject; the module's docstring is the rule's documentation."""
