"""Rules, findings and the lint run."""

from mbplugin.lint.run import Report, lint

__all__ = ["Report", "lint"]
