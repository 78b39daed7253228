"""Formulations of the equations of motion, one per file; all of them give one motion."""

from mbplugin.dynamics.formulations.table import REDUNDANCY, TABLE, solve
from mbplugin.dynamics.solution import Solution

__all__ = ["REDUNDANCY", "TABLE", "Solution", "solve"]
