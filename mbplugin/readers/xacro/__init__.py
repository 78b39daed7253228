"""Xacro: checked, then expanded in a process of its own."""
