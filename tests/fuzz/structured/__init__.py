"""Models, files beside them and command lines that are made from a grammar: valid, and nearly so."""
