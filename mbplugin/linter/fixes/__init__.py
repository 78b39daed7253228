"""Fixes of findings: text edits at the places where a file states what is wrong."""
