"""Read xacro files: checked, then expanded in a separate process."""
