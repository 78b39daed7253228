"""The rules, one class each, in a file for each subject; the docstring of a class is the documentation of its rule."""
