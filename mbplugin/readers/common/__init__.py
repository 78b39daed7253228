"""What every reader needs: paths, numbers, XML with lines, vocabularies, limits."""
