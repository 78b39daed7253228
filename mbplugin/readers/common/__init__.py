"""Common parts of all readers: paths, numbers, XML with lines, vocabularies, limits."""
