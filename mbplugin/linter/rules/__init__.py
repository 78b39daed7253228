"""The rules: one class each, one file for each subject; the docstring of a class documents its rule."""
