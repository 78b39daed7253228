"""Findings for CI systems: SARIF, GitHub annotations, JUnit."""
